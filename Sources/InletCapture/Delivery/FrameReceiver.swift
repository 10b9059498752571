import InletCore

/// The end of the bridge that a capture thread sees: something with a mailbox that takes frames.
protocol FrameReceiver: AnyObject, Sendable {
    var id: SinkID { get }
    var name: String { get }
    /// What its frames shall be like, of which the demand on the source is made. May change.
    var wants: SinkWants { get }
    var counters: SinkCounters { get }

    /// Called on the producer's thread, before the first frame, and again when receivers or the source have changed.
    ///
    /// - Parameter format: nil until a source has been open: placeholders follow.
    func begin(_ format: SourceFormat?, room: ProducerGate)

    /// Called on the producer's thread. Blocks only under a lossless policy.
    func offer(_ frame: CapturedFrame, isCancelled: () -> Bool)

    /// Whether it takes the source's packets.
    var takesPackets: Bool { get }

    /// Whether the source waits for it, so that it gets every picture.
    var isLossless: Bool { get }

    /// Whether it takes pictures.
    var takesPictures: Bool { get }

    /// Called on the producer's thread, for receivers that take packets. Blocks only where the source waits for its sinks.
    func offer(_ packet: EncodedPacket, of parameters: CodecParameters, isCancelled: () -> Bool)

    /// Called on the producer's thread, for receivers that take packets: one is kept from it. It goes on with a key frame.
    func losePacket(_ reason: DropReason)

    /// Whether frames are to be expected. Called on some thread.
    func sourceChanged(to condition: SourceCondition)

    /// No more frames come; those that wait are still delivered.
    ///
    /// - Parameter error: why, where the source failed.
    func finish(_ error: InletError?)

    /// Ends at once; what waits is dropped and counted.
    func close()

    /// Resolved when the last frame was taken and the sink finished.
    var ended: Completion<Void> { get }
}

extension FrameReceiver {
    var isLossless: Bool { false }
    var takesPackets: Bool { false }
    var takesPictures: Bool { !takesPackets }
    func offer(_ packet: EncodedPacket, of parameters: CodecParameters, isCancelled: () -> Bool) {}
    func losePacket(_ reason: DropReason) {}
    func sourceChanged(to condition: SourceCondition) {}
}

/// What a receiver tells its capturer.
enum ReceiverEvent: Sendable {
    /// It takes no more frames. The last thing that it tells.
    case ended(InletError?)
    /// Its sink failed, and a new one will be made.
    case restarting(InletError, attempt: Int, delay: Duration)
}

/// What receivers share with their capturer.
struct DeliveryContext: Sendable {
    let clock: any CaptureClock
    let conversion: ConversionContext
    /// Called on the receiver's own queue or task.
    let report: @Sendable (any FrameReceiver, ReceiverEvent) -> Void
    /// What sinks that show figures are given.
    var statistics: any StatisticsReader = CapturerReader { nil }
    var observer = DeliveryObserver()
    /// Called when a receiver wants other frames than before.
    var wantsChanged: @Sendable () -> Void = {}
}

extension DeliveryContext {
    /// Converts a frame that is sure to be taken, on the producer's thread: its pixels are in the processor's cache now, and may no longer be when
    /// their turn comes. What fails is tried again in its turn, and told then.
    func convertAhead(_ captured: CapturedFrame, for receiver: some FrameReceiver) {
        // Those are offered by a thread that waits for nothing.
        guard !captured.isPlaceholder, let adaptation = try? captured.adaptation(to: receiver.wants) else { return }
        let start = clock.now
        guard (try? captured.videoFrame(adaptation, with: conversion)) != nil else { return }
        receiver.counters.conversionTime.record(from: start, to: clock.now)
        captured.noteConvertedAhead(for: receiver.id)
    }

    /// The frame as its consumer gets it, with its stage times counted; nil where it could not be converted, which is counted as a drop.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` where this frame cannot be made into what the receiver wants, which is not counted.
    func convert(_ captured: CapturedFrame, for receiver: some FrameReceiver) throws(InletError) -> VideoFrame? {
        let taken = clock.now
        let adaptation = try captured.adaptation(to: receiver.wants)
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
