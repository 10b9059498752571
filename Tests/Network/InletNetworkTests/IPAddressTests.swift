import Foundation
import InletNetwork
import Testing

@Suite struct IPAddressTests {
    @Test(
        "The space of an address matches IANA's registries",
        arguments: [
            // https://www.iana.org/assignments/iana-ipv4-special-registry
            ("0.0.0.0", .loopback), ("0.1.2.3", .privateUse), ("10.0.0.0", .privateUse),
            ("10.255.255.255", .privateUse),
            ("9.255.255.255", .global), ("11.0.0.0", .global), ("100.63.255.255", .global),
            ("100.64.0.0", .privateUse), ("100.127.255.255", .privateUse), ("100.128.0.0", .global),
            ("127.0.0.1", .loopback), ("127.255.255.255", .loopback), ("128.0.0.0", .global),
            ("169.253.255.255", .global), ("169.254.0.0", .linkLocal), ("169.254.169.254", .linkLocal),
            ("169.255.0.0", .global), ("172.15.255.255", .global), ("172.16.0.0", .privateUse),
            ("172.31.255.255", .privateUse), ("172.32.0.0", .global), ("192.0.0.8", .privateUse),
            ("192.0.0.9", .global), ("192.0.0.10", .global), ("192.0.0.170", .privateUse), ("192.0.1.0", .global),
            ("192.0.2.1", .privateUse), ("192.31.196.1", .global), ("192.52.193.1", .global),
            ("192.88.99.1", .global), ("192.168.0.0", .privateUse), ("192.169.0.0", .global),
            ("192.175.48.1", .global), ("198.17.255.255", .global), ("198.18.0.0", .privateUse),
            ("198.19.255.255", .privateUse), ("198.20.0.0", .global), ("198.51.100.7", .privateUse),
            ("203.0.113.7", .privateUse), ("223.255.255.255", .global), ("224.0.0.1", .multicast),
            ("239.255.255.255", .multicast), ("240.0.0.0", .privateUse), ("255.255.255.254", .privateUse),
            ("255.255.255.255", .multicast), ("8.8.8.8", .global),
            // Metadata services of cloud providers.
            ("100.100.100.200", .linkLocal), ("192.0.0.192", .linkLocal), ("168.63.129.16", .linkLocal),
            ("fd00:ec2::254", .linkLocal), ("::ffff:100.100.100.200", .linkLocal),
            // https://www.iana.org/assignments/iana-ipv6-special-registry
            ("::", .loopback), ("::1", .loopback), ("::2", .privateUse), ("::ffff:127.0.0.1", .loopback),
            ("::ffff:10.1.2.3", .privateUse), ("::ffff:169.254.169.254", .linkLocal), ("::ffff:8.8.8.8", .global),
            ("64:ff9b::8.8.8.8", .global), ("64:ff9b::10.0.0.1", .privateUse), ("64:ff9b::127.0.0.1", .loopback),
            ("64:ff9b:1::1", .linkLocal), ("100::1", .privateUse), ("2001::1", .privateUse), ("2001:1::1", .global),
            ("2001:1::2", .global), ("2001:1::3", .global), ("2001:1::4", .privateUse), ("2001:2::1", .privateUse),
            ("2001:3::1", .global), ("2001:4:112::1", .global), ("2001:4:113::1", .privateUse),
            ("2001:10::1", .privateUse), ("2001:20::1", .global), ("2001:30::1", .global), ("2001:200::1", .global),
            ("2001:db8::1", .privateUse), ("2002:7f00:1::", .loopback), ("2002:808:808::1", .global),
            ("2002:a9fe:a9fe::1", .linkLocal), ("2620:4f:8000::1", .global), ("3fff::1", .privateUse),
            ("3fff:1000::1", .global), ("4000::1", .privateUse), ("5f00::1", .privateUse), ("fc00::1", .privateUse),
            ("fdff::1", .privateUse), ("fe80::1", .linkLocal), ("febf::1", .linkLocal), ("fec0::1", .privateUse),
            ("ff02::1", .multicast), ("2606:4700::1", .global),
        ] as [(String, AddressSpace)])
    func space(_ text: String, _ space: AddressSpace) throws {
        #expect(try #require(IPAddress(literal: text)).space == space)
    }

    @Test(
        "A non-numeric address is refused", arguments: ["", "localhost", "1.2.3", "127.1", "[::1]", "0x7f000001"])
    func literals(_ text: String) {
        #expect(IPAddress(literal: text) == nil)
        #expect(IPAddress(bytes: [1, 2, 3]) == nil)
    }

    @Test("An address is numeric in a URL, with brackets for IPv6")
    func digits() {
        #expect(IPAddress(literal: "192.168.1.20")?.inURL == "192.168.1.20")
        #expect(IPAddress(literal: "2001:DB8:0::1")?.inURL == "[2001:db8::1]")
    }

    @Test("The interface of an address is looked up with it, and ignored in comparisons")
    func zone() throws {
        let found = try #require(HostLookup.addresses(of: "fe80::1%lo").first)
        let index = unsafe if_nametoindex("lo")
        #expect(index > 0 && found.zone == index)
        let plain = try #require(IPAddress(literal: "fe80::1"))
        #expect(plain.zone == 0 && plain == found && Set([plain, found]).count == 1)
        #expect(HostLookup.addresses(of: "fe80::1%none").isEmpty && HostLookup.addresses(of: "::1").first?.zone == 0)
    }

    @Test(
        "No server may redirect to a more private space than its own, unless that is allowed",
        arguments: [
            // The redirecting address, the target, and whether follow and deny allow it.
            ("8.8.8.8", "1.1.1.1", true, true), ("8.8.8.8", "192.168.1.1", false, false),
            ("8.8.8.8", "100.64.0.1", false, false), ("8.8.8.8", "169.254.169.254", false, false),
            ("8.8.8.8", "127.0.0.1", false, false), ("8.8.8.8", "::ffff:127.0.0.1", false, false),
            ("8.8.8.8", "224.0.0.1", false, false), ("10.0.0.1", "8.8.8.8", true, true),
            ("10.0.0.1", "10.0.0.2", true, false), ("10.0.0.1", "fd00::1", true, false),
            ("10.0.0.1", "10.0.0.1", true, true), ("10.0.0.1", "169.254.169.254", false, false),
            ("10.0.0.1", "0.0.0.0", false, false), ("169.254.1.1", "10.0.0.1", true, false),
            ("169.254.1.1", "127.0.0.1", false, false), ("127.0.0.1", "169.254.169.254", true, false),
            ("127.0.0.1", "::1", true, false), ("127.0.0.1", "127.0.0.1", true, true),
            ("127.0.0.1", "239.1.1.1", false, false),
        ])
    func policy(_ leader: String, _ target: String, _ follows: Bool, _ denies: Bool) throws {
        let (leader, target) = (try #require(IPAddress(literal: leader)), try #require(IPAddress(literal: target)))
        #expect(AddressPolicy.follow.allows(target, from: leader) == follows)
        #expect(AddressPolicy.deny.allows(target, from: leader) == denies)
        #expect(AddressPolicy.allow.allows(target, from: leader))
    }
}
