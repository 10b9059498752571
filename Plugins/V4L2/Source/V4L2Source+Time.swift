import CV4L2
import InletCore
import Logging

extension V4L2Source {
    /// Returns the driver's time of a picture if it can be trusted.
    func time(of facts: inlet_v4l2_buffer, now: MonotonicTime, _ context: SourceContext) -> MonotonicTime? {
        let clock = facts.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK)
        if !hasNotedClock {
            hasNotedClock = true
            let isStart = facts.flags & UInt32(V4L2_BUF_FLAG_TSTAMP_SRC_MASK) == UInt32(V4L2_BUF_FLAG_TSTAMP_SRC_SOE)
            let name =
                clock == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
                ? "the monotonic clock" : "a clock that it does not name"
            context.logger.debug(
                "The driver's times are of \(name), at the \(isStart ? "start of exposure" : "end of the frame").")
        }
        let time = MonotonicTime(nanoseconds: facts.timestamp_ns)
        let doubt = trust.judge(time, isCopied: clock == UInt32(V4L2_BUF_FLAG_TIMESTAMP_COPY), now: now)
        guard doubt != .none else { return time }
        if doubts.insert(doubt).inserted {
            context.logger.warning("\(doubt.rawValue): using the time of arrival instead.")
        }
        return nil
    }
}
