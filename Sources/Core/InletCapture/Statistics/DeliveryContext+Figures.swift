import InletCore
import Synchronization

extension DeliveryContext {
    /// Counts a frame that its consumer took, and traces it.
    ///
    /// - Parameter consumed: when the consumer was done with it; nil if that cannot be observed.
    func countDelivery(of frame: VideoFrame, to receiver: any FrameReceiver, consumed: MonotonicTime?) {
        receiver.counters.delivered.wrappingAdd(1, ordering: .relaxed)
        if let consumed, let delivered = frame.stages.delivered {
            receiver.counters.consumeTime.record(from: delivered, to: consumed)
        }
        guard let tracer = observer.tracer else { return }
        tracer.trace(
            FrameTrace(
                source: observer.source, sinkID: receiver.id, sink: receiver.name, sequence: frame.sequence,
                timestamp: frame.timestamp, stages: frame.stages,
                end: consumed ?? frame.stages.delivered ?? clock.now))
    }

    /// Counts a frame that its consumer will not get, logs the drop and traces it.
    ///
    /// - Parameter stages: the stages that it reached. The default is that it was queued, at most.
    func countDrop(
        of frame: CapturedFrame, _ reason: DropReason, by receiver: any FrameReceiver, stages: StageTimes? = nil
    ) {
        receiver.counters.countDrop(reason)
        observer.log?.dropped(reason, by: receiver.name)
        guard let tracer = observer.tracer else { return }
        tracer.trace(
            FrameTrace(
                source: observer.source, sinkID: receiver.id, sink: receiver.name, sequence: frame.sequence,
                timestamp: frame.timestamp, stages: stages ?? frame.stages, end: clock.now, dropReason: reason))
    }
}
