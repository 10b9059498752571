import InletCore
import InletTesting
import Testing

@testable import InletDecode

@Suite struct PacketQueueTests {
    private func packet(_ number: Int, isKey: Bool = false, bytes: Int = 1) -> SourcePacket {
        let parameters = CodecParameters(
            codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 30))
        let time = MediaTime(ticks: Int64(number), timeBase: parameters.timeBase)
        return SourcePacket(
            parameters: parameters, data: PacketData([UInt8](repeating: 0, count: bytes)), pts: time, dts: time,
            flags: isKey ? .key : [])
    }

    private func packet(of next: PacketQueue.Next) -> PacketQueue.Taken? {
        guard case .packet(let taken) = next else { return nil }
        return taken
    }

    @Test("Packets come out in order, marked if a key frame is queued behind them, and then the end")
    func order() throws {
        let queue = PacketQueue()
        for number in 0..<6 { #expect(queue.put(packet(number, isKey: number % 3 == 0), mayWait: { false })) }
        queue.finish(.failure(InletError(.disconnected, "gone")))
        var keys: [Bool] = []
        for number in 0..<6 {
            let taken = try #require(try packet(of: queue.take()))
            #expect(taken.packet.pts?.ticks == Int64(number))
            #expect(taken.waiting == 5 - number)
            keys.append(taken.precedesKey)
        }
        #expect(keys == [true, true, true, false, false, false])
        #expect(throws: InletError.self) { try queue.take() }
    }

    @Test("A non-waiting reader gets the packets so far, and then nothing")
    func lastLook() throws {
        let queue = PacketQueue()
        let late = try queue.take {
            #expect(queue.put(packet(7), mayWait: { false }))
            return false
        }
        #expect(packet(of: late)?.packet.pts?.ticks == 7)
        guard case .none = try queue.take(mayWait: { false }) else {
            Issue.record("there is something")
            return
        }
    }

    @Test("The queue is full by number and by bytes, and one packet fits however large")
    func bounds() throws {
        let queue = PacketQueue(.init(packets: 3, bytes: 100))
        #expect(queue.put(packet(0, bytes: 1000), mayWait: { false }))
        #expect(!queue.put(packet(1), mayWait: { false }))
        _ = try queue.take()
        for number in 1...3 { #expect(queue.put(packet(number), mayWait: { false })) }
        #expect(!queue.put(packet(4), mayWait: { false }))
        queue.clear()
        #expect(queue.put(packet(5, bytes: 60), mayWait: { false }))
        #expect(!queue.put(packet(6, bytes: 60), mayWait: { false }))
    }

    @Test(
        "A wait for room or for a packet ends when there is one, and when the queue is closed",
        .timeLimit(.minutes(1)))
    func waits() async throws {
        let queue = PacketQueue(.init(packets: 2, bytes: 1000))
        let count = 5000
        async let reader: Void = onThread {
            for number in 0..<count { #expect(queue.put(packet(number), mayWait: { true })) }
            queue.finish(.success(()))
        }
        let seen = try await onThread { () -> [Int64] in
            var seen: [Int64] = []
            while let taken = try? packet(of: queue.take()) { seen.append(taken.packet.pts?.ticks ?? -1) }
            return seen
        }
        try await reader
        #expect(seen == (0..<count).map(Int64.init))

        let full = PacketQueue(.init(packets: 1, bytes: 1000))
        #expect(full.put(packet(0), mayWait: { false }))
        async let isTaken = onThread { full.put(packet(1), mayWait: { true }) }
        try await Task.sleep(for: .milliseconds(20))
        full.close()
        #expect(try await !isTaken)
    }
}
