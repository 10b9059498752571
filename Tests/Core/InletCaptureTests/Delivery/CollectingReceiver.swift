import InletCore
import InletTesting
import Synchronization

@testable import InletCapture

/// A receiver without a thread or a mailbox: it keeps the frames that it is offered, and blocks its producer on
/// request.
final class CollectingReceiver: FrameReceiver {
    let id: SinkID
    let name = "collecting"
    let wants: SinkWants
    let counters = SinkCounters()
    let isLossless = false
    let takesPictures = true
    let ended = Completion<Void>()
    private let gate: Gate
    private let state = Mutex(State())

    private struct State {
        var formats: [SourceFormat?] = []
        var frames: [CapturedFrame] = []
    }

    init(wants: SinkWants = SinkWants(), gate: Gate = Gate(isOpen: true)) {
        id = SinkID(number: 1)
        self.wants = wants
        self.gate = gate
    }

    var formats: [SourceFormat?] { state.withLock { $0.formats } }
    var frames: [CapturedFrame] { state.withLock { $0.frames } }

    func begin(_ format: SourceFormat?, room: ProducerGate) { state.withLock { $0.formats.append(format) } }

    func offer(_ frame: CapturedFrame, isCancelled: () -> Bool) {
        gate.pass()
        state.withLock { $0.frames.append(frame) }
    }

    func finish(_ error: InletError?) {}
    func close() {}
}
