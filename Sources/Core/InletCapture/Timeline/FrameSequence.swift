public import InletCore
import Synchronization

/// The frames of a capturer as an `AsyncSequence`, for one consumer.
///
/// It ends with the run, and throws the ``InletError`` that the run failed with. Releasing the sequence, or cancelling
/// the task that iterates, detaches it. Frames are converted on the consumer's task, and only those that it takes; if
/// the queue loses no frame, on the source's thread.
public struct FrameSequence: AsyncSequence, Sendable {
    /// A frame as a sink gets it.
    public typealias Element = VideoFrame
    /// Always an ``InletError``.
    public typealias Failure = any Error
    private let subscription: Subscription

    init(_ delivery: SequenceDelivery) { subscription = Subscription(delivery) }

    /// The one iterator; a second would share its frames.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    /// Takes the frames one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscription: Subscription

        /// Returns the next frame, or nil at the end of the stream or after a cancellation of the task.
        public mutating func next() async throws -> VideoFrame? { try await subscription.delivery.next() }
    }

    /// Detaches when the sequence and its iterators are gone.
    fileprivate final class Subscription: Sendable {
        let delivery: SequenceDelivery
        init(_ delivery: SequenceDelivery) { self.delivery = delivery }
        deinit { delivery.close() }
    }
}
