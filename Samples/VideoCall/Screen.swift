import Inlet
import Synchronization

/// The receiver of the other side's pictures. It reads the number in each picture instead of displaying it.
final class Screen: Sendable {
    private struct State {
        var numbers: [UInt32] = []
        var unreadable = 0
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    /// Attaches the screen to a capturer.
    func attach(to capturer: Capturer) { capturer.attach(ReadingSink(self), named: "screen") }

    /// Waits until this many pictures have been read.
    func hasSeen(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.numbers.count < count { state.waiting.append((count, continuation)) }
                return state.numbers.count >= count
            }
            if isThere { continuation.resume() }
        }
    }

    var summary: String {
        state.withLock { state in
            let isRising = zip(state.numbers, state.numbers.dropFirst()).allSatisfy { $0 < $1 }
            return "\(state.numbers.count) numbers read, \(isRising ? "rising" : "out of order"), "
                + "\(state.unreadable) unreadable"
        }
    }

    fileprivate func show(_ number: UInt32?) {
        let ready = state.withLock { state in
            guard let number else {
                state.unreadable += 1
                return [] as [CheckedContinuation<Void, Never>]
            }
            state.numbers.append(number)
            let ready = state.waiting.filter { $0.count <= state.numbers.count }
            state.waiting.removeAll { $0.count <= state.numbers.count }
            return ready.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }
}

private final class ReadingSink: FrameSink {
    private let screen: Screen
    init(_ screen: Screen) { self.screen = screen }
    func consume(_ frame: VideoFrame) { screen.show(TimecodeReader.read(frame.buffer)?.frame) }
}
