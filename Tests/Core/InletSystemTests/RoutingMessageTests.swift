import InletSystem
import Testing

/// Parses kernel messages that are laid out by hand according to `include/uapi/linux/rtnetlink.h`.
@Suite struct RoutingMessageTests {
    typealias Address = NetworkView.Address

    static func number<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
        let ordered = Number(littleEndian: value)
        return (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: ordered >> (8 * $0)) }
    }

    static func message(_ kind: UInt16, _ body: [UInt8]) -> [UInt8] {
        let bytes = number(UInt32(16 + body.count)) + number(kind) + number(UInt16(0)) + number(UInt64(0)) + body
        return bytes + [UInt8](repeating: 0, count: -bytes.count & 3)
    }

    static func attribute(_ kind: UInt16, _ value: [UInt8]) -> [UInt8] {
        let bytes = number(UInt16(4 + value.count)) + number(kind) + value
        return bytes + [UInt8](repeating: 0, count: -bytes.count & 3)
    }

    static func link(_ index: Int32, flags: UInt32, kind: UInt16 = 16) -> [UInt8] {
        message(kind, [0, 0] + number(UInt16(1)) + number(index) + number(flags) + number(UInt32(0)))
    }

    static func address(_ index: Int32, flags: UInt8 = 0, kind: UInt16 = 20, _ attributes: [UInt8]) -> [UInt8] {
        message(kind, [2, 24, flags, 0] + number(index) + attributes)
    }

    static func route(prefix: UInt8, type: UInt8 = 1, kind: UInt16 = 24, _ attributes: [UInt8]) -> [UInt8] {
        message(kind, [2, prefix, 0, 0, 254, 3, 0, type] + number(UInt32(0)) + attributes)
    }

    static let home: [UInt8] = [192, 0, 2, 7]
    static let far: [UInt8] = [198, 51, 100, 1]

    static let table: [([UInt8], [RoutingMessage])] = [
        (link(2, flags: 0x10043), [.link(interface: 2, isRunning: true)]),
        // Up, but without a carrier.
        (link(2, flags: 0x1003), [.link(interface: 2, isRunning: false)]),
        (link(3, flags: 0x41, kind: 17), [.linkGone(interface: 3)]),
        (address(2, attribute(1, home)), [.address(interface: 2, NetworkView.Address(of: home))]),
        // A point-to-point link: the far end's address, then this end's.
        (address(4, attribute(1, far) + attribute(2, home)), [.address(interface: 4, NetworkView.Address(of: home))]),
        (address(4, attribute(2, home) + attribute(1, far)), [.address(interface: 4, NetworkView.Address(of: home))]),
        (address(2, kind: 21, attribute(1, home)), [.addressGone(interface: 2)]),
        // Not yet confirmed by probing, in the short flags and in the long ones.
        (address(2, flags: 0x40, attribute(1, home)), [.addressGone(interface: 2)]),
        (address(2, attribute(1, home) + attribute(8, number(UInt32(0x40)))), [.addressGone(interface: 2)]),
        (address(2, attribute(1, [1, 2, 3])), [.addressGone(interface: 2)]),
        (
            route(prefix: 0, attribute(4, number(Int32(2))) + attribute(5, far) + attribute(7, home)),
            [.route(.init(interface: 2, gateway: Address(far), source: Address(home)), prefix: 0)]
        ),
        (route(prefix: 24, kind: 25, []), [.routeGone(prefix: 24)]),
        (route(prefix: 0, type: 7, []), [.routeGone(prefix: 0)]),
        (message(3, number(Int32(0))), [.done]),
        (message(2, number(Int32(-101))), [.failed(101)]),
        (message(2, number(Int32.min)), [.failed(.min)]),
        (message(4, []), [.overrun]),
        (message(99, [1, 2, 3]), []),
        (link(2, flags: 0x41) + message(3, []), [.link(interface: 2, isRunning: true), .done]),
        ([], []),
    ]

    @Test("Messages of links, addresses and routes are read", arguments: table)
    func messages(bytes: [UInt8], expected: [RoutingMessage]) {
        #expect(RoutingMessage.read(bytes) == expected)
    }

    @Test("A truncated message is skipped, at every length")
    func truncated() {
        for (bytes, expected) in Self.table {
            for length in 0..<bytes.count {
                let read = RoutingMessage.read(bytes[..<length])
                #expect(read.count <= expected.count)
            }
        }
    }

    @Test("A wrong length ends the parsing")
    func lies() {
        for length in [0, 1, 15, 17_000, UInt32.max] {
            var bytes = Self.link(2, flags: 0x41)
            bytes.replaceSubrange(0..<4, with: Self.number(length))
            #expect(RoutingMessage.read(bytes) == [])
        }
        var bytes = Self.address(2, Self.attribute(1, Self.home))
        // Lengths of the attribute: shorter than its own header, and longer than the message.
        for length in [UInt16(0), 3, 9, .max] {
            bytes.replaceSubrange(24..<26, with: Self.number(length))
            #expect(RoutingMessage.read(bytes) == [.addressGone(interface: 2)])
        }
    }

    @Test("Changed bytes are parsed without a fault, and never as more messages than fit")
    func mutations() {
        var random = SplitMix(state: 0x5eed)
        for _ in 0..<20_000 {
            var bytes = Self.table[Int(random.next() % UInt64(Self.table.count))].0
            bytes += Self.table[Int(random.next() % UInt64(Self.table.count))].0
            for _ in 0...Int(random.next() % 4) where !bytes.isEmpty {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            #expect(RoutingMessage.read(bytes).count <= bytes.count / 16 + 1)
        }
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014).
    private struct SplitMix {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var z = state
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
    }
}
