package import InletCore

/// Counts requests for key frames, and how many were answered in time.
///
/// Requests are repeated until a key frame comes, so the time counts from the first of them. A key frame that comes
/// much later is one that the sender would have sent anyway.
package struct KeyFrameAnswers: Sendable, Equatable {
    /// Requests sent.
    package private(set) var requests = 0
    /// Key frames that came in time.
    package private(set) var responses = 0
    /// The sum of the times from the first request to the key frame.
    package private(set) var responseTime = Duration.zero
    private var firstRequest: MonotonicTime?

    /// The longest delay of a key frame that counts as an answer.
    package static let patience = Duration.seconds(2)

    package init() {}

    /// Records that a request was sent.
    package mutating func noteRequest(at time: MonotonicTime) {
        requests &+= 1
        if firstRequest == nil { firstRequest = time }
    }

    /// Records that a key frame is complete.
    package mutating func noteKeyFrame(at time: MonotonicTime) {
        guard let first = firstRequest else { return }
        firstRequest = nil
        let passed = time - first
        guard passed >= .zero, passed <= Self.patience else { return }
        responses &+= 1
        responseTime += passed
    }
}
