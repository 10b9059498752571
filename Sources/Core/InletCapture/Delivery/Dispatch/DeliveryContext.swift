import InletCore
import InletSystem

/// State that receivers share with their capturer.
struct DeliveryContext: Sendable {
    let clock: any CaptureClock
    let conversion: ConversionContext
    /// Reports an event. Called on the receiver's own queue or task.
    let report: @Sendable (any SinkReceiver, ReceiverEvent) -> Void
    /// The context that sinks get when they start.
    var sinkContext = SinkContext()
    var observer = DeliveryObserver()
    /// Called when a receiver's wants have changed.
    var wantsChanged: @Sendable () -> Void = {}
    /// Called when a receiver has got its first viewer or lost its last.
    var watchersChanged: @Sendable () -> Void = {}
    /// Called when a receiver of packets needs a key frame of the source.
    var requestKeyFrame: @Sendable () -> Void = {}
    /// The account of the processor time of receivers' threads.
    var account: ProcessorAccount?
}

extension DeliveryContext {
    /// Converts a frame that is certain to be taken, on the producer's thread: its pixels are in the processor's cache
    /// now, and may no longer be later. A failure is ignored here; the conversion is tried again in its turn, and an
    /// error reported then.
    func convertAhead(_ captured: CapturedFrame, for receiver: some FrameReceiver) {
        // Placeholders are offered by a thread that never waits.
        guard !captured.isPlaceholder,
            let adaptation = try? captured.adaptation(to: receiver.wants, by: conversion.filtering)
        else { return }
        let start = clock.now
        guard (try? captured.videoFrame(adaptation, with: conversion)) != nil else { return }
        receiver.counters.conversionTime.record(from: start, to: clock.now)
        captured.noteConvertedAhead(for: receiver.id)
    }

    /// Returns the frame as its consumer gets it, with its stage times counted; nil if it could not be converted, which
    /// is counted as a drop.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if this frame cannot be made into what the receiver wants,
    ///   which is not counted.
    func convert(_ captured: CapturedFrame, for receiver: some FrameReceiver) throws(InletError) -> VideoFrame? {
        let taken = clock.now
        let adaptation = try captured.adaptation(to: receiver.wants, by: conversion.filtering)
        var frame: VideoFrame
        do throws(InletError) {
            frame = try captured.videoFrame(adaptation, with: conversion)
        } catch {
            var stages = captured.stages
            stages.taken = taken
            countDrop(
                of: captured, error.code == .resourceExhausted ? .poolExhausted : .conversionFailed, by: receiver,
                stages: stages)
            return nil
        }
        let converted = clock.now
        frame.stages.taken = taken
        frame.stages.converted = converted
        frame.stages.delivered = converted
        let counters = receiver.counters
        if !captured.wasConvertedAhead(for: receiver.id) {
            counters.conversionTime.record(from: taken, to: converted)
        }
        if let queued = captured.stages.queued { counters.queueLatency.record(from: queued, to: taken) }
        if let decoded = captured.stages.decoded { counters.deliveryLatency.record(from: decoded, to: converted) }
        return frame
    }
}
