import Foundation
import InletSystem
import ReferenceTools
import Testing

@Suite(.blocking) struct NetworkViewTests {
    typealias Address = NetworkView.Address
    static let one = Address(of: [192, 0, 2, 1])
    static let two = Address(of: [198, 51, 100, 2])
    static let six = Address(of: [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 12))
    static let route = NetworkView.Route(interface: 2, gateway: one, source: two)

    @Test("A view contains the addresses of interfaces that carry packets, except loopback and link-local ones")
    func listed() {
        let linkLocal = Address(of: [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [1])
        let loopback6 = Address(of: [UInt8](repeating: 0, count: 15) + [1])
        let view = NetworkView(
            links: [
                .link(interface: 1, isRunning: true), .link(interface: 2, isRunning: true),
                .link(interface: 3, isRunning: false),
            ],
            addresses: [
                .address(interface: 1, Address(of: [127, 0, 0, 1])), .address(interface: 1, loopback6),
                .address(interface: 2, Self.one), .address(interface: 2, linkLocal), .address(interface: 3, Self.two),
                .address(interface: 2, Address(of: [169, 254, 1, 1])), .address(interface: 2, Self.six),
                .addressGone(interface: 2),
            ])
        #expect(view == NetworkView(addresses: [Self.one, Self.six]))
    }

    @Test("Removed addresses and routes may break paths; added ones do not")
    func changes() throws {
        let empty = NetworkView()
        let first = NetworkView(addresses: [Self.one], route4: Self.route)
        #expect(first.change(to: first) == nil)
        let came = try #require(empty.change(to: first))
        #expect(!came.mayBreakPaths)
        #expect(came.description == "1 address has come, there is a default route")
        let gone = try #require(first.change(to: empty))
        #expect(gone.mayBreakPaths)
        #expect(gone.description == "1 address is gone, the default route is gone or another")
        var other = first
        other.route4?.gateway = Self.two
        #expect(first.change(to: other)?.mayBreakPaths == true)
        other = first
        other.addresses = [Self.two, Self.six]
        let moved = try #require(first.change(to: other))
        #expect(moved.lost == [Self.one])
        #expect(moved.gained == [Self.two, Self.six])
        #expect(moved.description == "1 address is gone, 2 addresses have come")
        var added = first
        added.route6 = Self.route
        #expect(first.change(to: added)?.mayBreakPaths == false)
    }

    @Test("The kernel's list matches that of the command ip")
    func kernel() throws {
        let view = try #require(try RoutingSocket(hears: false).view())
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["ip", "-json", "addr", "show"]
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        struct Link: Decodable {
            struct Info: Decodable {
                var local: String?
                var scope: String?
            }
            var flags: [String]
            var addresses: [Info]

            enum CodingKeys: String, CodingKey {
                case flags
                case addresses = "addr_info"
            }
        }
        let links = try JSONDecoder().decode([Link].self, from: data)
        let expected = links.filter { $0.flags.contains("UP") && $0.flags.contains("LOWER_UP") }
            .flatMap(\.addresses).filter { $0.scope == "global" }.compactMap(\.local)
        #expect(Set(view.addresses.map(\.text)) == Set(expected))
    }

    @Test("A listener first receives the current view")
    func first() async throws {
        var views = NetworkWatch.shared.views().makeAsyncIterator()
        let view = try #require(await views.next())
        #expect(try RoutingSocket(hears: false).view() == view)
    }
}

extension NetworkView.Address {
    /// Creates an address from 4 or 16 bytes; any other number is a mistake in the test.
    init(of bytes: [UInt8]) {
        guard let address = Self(bytes) else { preconditionFailure("\(bytes.count) bytes are not an address") }
        self = address
    }

    /// The address as the command ip writes it.
    fileprivate var text: String {
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        var storage = [CChar](repeating: 0, count: 64)
        unsafe inet_ntop(AF_INET6, bytes, &storage, 64)
        return String(decoding: storage.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
