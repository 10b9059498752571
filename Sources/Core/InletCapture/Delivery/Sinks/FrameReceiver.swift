import InletCore

/// A receiver with a mailbox that takes pictures.
protocol FrameReceiver: SinkReceiver {
    /// The frames that the receiver wants; the demand on the source is computed from it. May change.
    var wants: SinkWants { get }

    /// Whether the source waits for it, so that it gets every picture.
    var isLossless: Bool { get }

    /// Whether it takes pictures at present.
    var takesPictures: Bool { get }

    /// Whether it has had no use for pictures for a while, so that none need be decoded for it. Pictures that arrive
    /// nevertheless are still offered to it.
    var isIdle: Bool { get }

    /// Sets how far its pictures are reduced, from the next one on. Safe from any thread.
    func reduce(to reduction: PictureReduction)

    /// Records that a picture was not decoded because no receiver used it. An idle receiver then checks whether it uses
    /// pictures now. Called on the producer's thread, with each packet.
    func passPicture(at time: MonotonicTime)

    /// Offers a frame. Called on the producer's thread, which may consume it. Blocks only under a lossless policy.
    func offer(_ frame: CapturedFrame, isCancelled: () -> Bool)

    /// Offers a frame as ``offer(_:isCancelled:)`` does, without consuming it on the caller's thread, which may hold a
    /// lock.
    func enqueue(_ frame: CapturedFrame, isCancelled: () -> Bool)
}

extension FrameReceiver {
    /// Whether it takes pictures at present, and has use for them.
    var hasPictureWork: Bool { takesPictures && !isIdle }
    /// Always false.
    var isIdle: Bool { false }
    /// Offers the frame.
    func enqueue(_ frame: CapturedFrame, isCancelled: () -> Bool) { offer(frame, isCancelled: isCancelled) }
    /// Does nothing.
    func reduce(to reduction: PictureReduction) {}
    /// Does nothing.
    func passPicture(at time: MonotonicTime) {}
}
