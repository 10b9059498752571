package import InletRTC
import Synchronization

/// The one answer, or the reason for its absence, of a session that an HTTP request has opened. Safe from any
/// thread.
package final class AnswerReply: Sendable {
    /// The reason why there is no answer.
    package struct NoAnswer: Error {
        package var end: PeerSessionEnd

        package init(end: PeerSessionEnd) { self.end = end }
    }

    /// Called once, on the session's queue.
    package typealias OnAnswer = @Sendable (Result<String, NoAnswer>) -> Void

    private let waiting = Mutex(OnAnswer?.none)

    package init() {}

    /// Registers a closure to call with the answer.
    package func wait(_ onAnswer: @escaping OnAnswer) { waiting.withLock { $0 = onAnswer } }

    /// Gives the answer to the closure; a second one is ignored.
    package func give(_ result: Result<String, NoAnswer>) {
        let onAnswer = waiting.withLock { $0.take() }
        onAnswer?(result)
    }
}
