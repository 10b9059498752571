#if WebRTC
    import InletCore

    /// Replaces pictures with black ones, a few a second: enough for players, and nearly free.
    struct Blackout {
        private static let interval = Duration.milliseconds(200)
        private var picture: I420Buffer?
        private var next: MonotonicTime?

        /// - Returns: a black picture of the frame's size and time; nil if it is too soon for another.
        mutating func picture(for frame: VideoFrame) throws(InletError) -> VideoFrame? {
            if let next, frame.timestamp < next { return nil }
            next = frame.timestamp + Self.interval
            var black = frame
            if let picture, picture.size == frame.size {
                black.buffer = picture
            } else {
                var draft = try I420Draft(size: frame.size)
                draft.fillBlack()
                black.buffer = draft.publish()
                picture = black.buffer
            }
            return black
        }
    }
#endif
