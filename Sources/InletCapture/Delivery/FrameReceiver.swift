import InletCore

/// A receiver with a mailbox that takes pictures.
protocol FrameReceiver: SinkReceiver {
    /// What its frames should be like, from which the demand on the source is computed. May change.
    var wants: SinkWants { get }

    /// Whether the source waits for it, so that it gets every picture.
    var isLossless: Bool { get }

    /// Whether it takes pictures at present.
    var takesPictures: Bool { get }

    /// Offers a frame. Called on the producer's thread. Blocks only under a lossless policy.
    func offer(_ frame: CapturedFrame, isCancelled: () -> Bool)
}
