package import InletCore

/// Decides when a receiver sends reports and requests for key frames.
///
/// Reports follow each other at a fixed interval, the first after half of it (RFC 3550, section 6.2). RFC 3550 makes
/// the interval random and dependent on the number of members, so that large groups do not flood the sender; a camera
/// has few viewers, and some take a missing report for a dead viewer.
package struct RTCPSchedule: Sendable {
    private let interval: Duration
    private let requestInterval: Duration
    private var nextReport: MonotonicTime
    private var lastRequest: MonotonicTime?
    private var isKeyFrameNeeded = false

    /// - Parameters:
    ///   - start: when the stream began to play.
    ///   - interval: the time from report to report. The default is 5 seconds.
    ///   - requestInterval: the least time from one request for a key frame to the next. The default is one second.
    package init(
        start: MonotonicTime, interval: Duration = .seconds(5), requestInterval: Duration = .seconds(1)
    ) {
        self.interval = max(interval, .milliseconds(10))
        self.requestInterval = requestInterval
        nextReport = start + self.interval / 2
    }

    /// The time at which something is to be sent.
    package var deadline: MonotonicTime { keyFrameDeadline.map { min($0, nextReport) } ?? nextReport }

    /// The time at which a request for a key frame is to be sent; nil if none is needed.
    private var keyFrameDeadline: MonotonicTime? {
        guard isKeyFrameNeeded else { return nil }
        return lastRequest.map { $0 + requestInterval } ?? MonotonicTime(nanoseconds: .min)
    }

    /// Records that a key frame is needed. The request is due at once, or as soon as the previous one is old enough.
    package mutating func needKeyFrame() { isKeyFrameNeeded = true }

    /// Records that a key frame came, so that none is needed any more.
    package mutating func noteKeyFrame() { isKeyFrameNeeded = false }

    /// Returns whether a report and a request for a key frame are due now, and counts them as sent. A request is sent
    /// along with a report: compound packets begin with one (RFC 3550, section 6.1).
    ///
    /// Until ``noteKeyFrame()``, requests are repeated only if ``needKeyFrame()`` is called again.
    package mutating func take(at time: MonotonicTime) -> (isReportDue: Bool, isKeyFrameRequestDue: Bool) {
        let isRequestDue = keyFrameDeadline.map { time >= $0 } ?? false
        if isRequestDue {
            lastRequest = time
            isKeyFrameNeeded = false
        }
        let isReportDue = time >= nextReport
        if isReportDue {
            // Reports that were missed, as by a machine that slept, are not made up for.
            let following = nextReport + interval
            nextReport = following > time ? following : time + interval
        }
        return (isReportDue, isRequestDue)
    }
}
