import InletCore
import Testing

@testable import InletCapture

@Suite struct PacketLaneStateMachineTests {
    private static func packet(_ index: Int, key: Bool = false, bytes: Int = 1) -> EncodedPacket {
        let time = MediaTime(ticks: Int64(index), timeBase: Rational(1, 30))
        return EncodedPacket(
            data: PacketData([UInt8](repeating: 0, count: bytes)), pts: time, dts: time, isKey: key,
            captureTime: MonotonicTime(nanoseconds: Int64(index)))
    }

    private func taken(_ machine: inout PacketLaneStateMachine) -> [Int64] {
        var ticks: [Int64] = []
        while case .item(let item) = machine.take() {
            if case .packet(let packet) = item { ticks.append(packet.pts.ticks) }
        }
        return ticks
    }

    @Test("The waiting packets are bounded in bytes as well, and continue with a key frame")
    func bytes() {
        var machine = PacketLaneStateMachine(capacity: 100, byteCapacity: 10)
        _ = machine.put(Self.packet(0, key: true, bytes: 9))
        _ = machine.put(Self.packet(1, bytes: 50))
        #expect(!machine.hasRoom)
        _ = machine.put(Self.packet(2))
        _ = machine.put(Self.packet(3, key: true))
        let taken1 = taken(&machine)
        #expect(taken1 == [0, 1])
        #expect(machine.hasRoom)
        _ = machine.put(Self.packet(4))
        _ = machine.put(Self.packet(5, key: true))
        _ = machine.put(Self.packet(6))
        let taken2 = taken(&machine)
        #expect(taken2 == [5, 6])
        #expect(machine.dropped == 3)
    }

    @Test("Packets withheld from the sink leave no hole: it continues with a key frame, which is requested")
    func lost() {
        var machine = PacketLaneStateMachine(capacity: 10)
        _ = machine.put(Self.packet(0, key: true))
        let before = machine.takeKeyFrameRequest()
        machine.lose()
        // A key frame would be withheld from it, too.
        let meanwhile = machine.takeKeyFrameRequest()
        _ = machine.put(Self.packet(2))
        let after = machine.takeKeyFrameRequest()
        #expect(!before && !meanwhile && after)
        _ = machine.put(Self.packet(3, key: true))
        let taken3 = taken(&machine)
        #expect(taken3 == [0, 3])
    }

    @Test("Packets waiting at the end are delivered; packets waiting at close are counted")
    func ends() {
        var machine = PacketLaneStateMachine(capacity: 10)
        _ = machine.put(Self.packet(0, key: true))
        machine.finish()
        _ = machine.put(Self.packet(1))
        let taken4 = taken(&machine)
        #expect(taken4 == [0])
        var other = PacketLaneStateMachine(capacity: 10)
        _ = other.put(Self.packet(0, key: true))
        other.close()
        let rest = taken(&other)
        #expect(rest == [] && other.dropped == 1)
    }

    @Test("A waiting thread is woken once, by the first packet; a resting one lets half of the room fill")
    func wakeUps() {
        var machine = PacketLaneStateMachine(capacity: 4)
        func wakes(_ body: (inout PacketLaneStateMachine) -> Void) -> Bool {
            body(&machine)
            return machine.takeWakeUp()
        }
        #expect(!wakes { _ = $0.put(Self.packet(0, key: true)) })
        _ = machine.take()
        guard case .empty = machine.take() else {
            Issue.record("something waits")
            return
        }
        // A request without packets is no reason to wake.
        #expect(!wakes { $0.lose() })
        #expect(wakes { _ = $0.put(Self.packet(0, key: true)) })
        #expect(!wakes { _ = $0.put(Self.packet(1)) })
        while case .item = machine.take(rests: true) {}
        #expect(!wakes { _ = $0.put(Self.packet(2)) })
        #expect(!wakes { _ = $0.put(Self.packet(3)) })
        #expect(wakes { _ = $0.put(Self.packet(4)) })
        #expect(!wakes { _ = $0.put(Self.packet(5)) })
        while case .item = machine.take(rests: true) {}
        #expect(wakes { $0.finish() })
    }
}
