import InletCore

/// A receiver with a mailbox that takes pictures.
protocol FrameReceiver: SinkReceiver {
    /// What its frames shall be like, of which the demand on the source is made. May change.
    var wants: SinkWants { get }

    /// Whether the source waits for it, so that it gets every picture.
    var isLossless: Bool { get }

    /// Whether it takes pictures now.
    var takesPictures: Bool { get }

    /// Called on the producer's thread. Blocks only under a lossless policy.
    func offer(_ frame: CapturedFrame, isCancelled: () -> Bool)
}
