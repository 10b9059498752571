import Dispatch
import InletCore
import InletSystem
import Synchronization

/// An RTSP reader of a camera: forwards the camera's packets unchanged, beginning with a key frame. Safe from any
/// thread.
///
/// A reader has its own job at the camera's hub, so a slow reader does not affect others, and each one begins with a
/// key frame. All readers share one session of the camera.
package final class RestreamReader: Sendable {
    private let media: CameraMedia
    private let outlet: any RestreamOutlet
    private let job: PacketJob
    private let first = Mutex<RestreamBeginning?>(nil)
    /// Signals that the beginning is known, or that it will not come.
    private let begun = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    /// Signals that the reader is leaving.
    private let leaving = DispatchSemaphore(value: 0)
    private let onClose: @Sendable () -> Void

    /// The greatest age of the last key frame with which a reader begins. A reader that plays by the packets' times
    /// stays late by that age. If the key frame is older and the next one is expected soon, the reader waits for it.
    private static let oldestBeginning = Duration.seconds(2)
    /// The longest wait for an expected key frame. If it would take longer, the reader begins with the last one.
    private static let longestExpectation = Duration.seconds(10)
    /// How long a reader waits for its first key frame.
    static let firstLimit = Duration.seconds(15)

    /// Starts to take packets.
    ///
    /// - Parameters:
    ///   - onClose: called once when the reader has closed.
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system cannot create a thread;
    ///   ``InletError/Code/notFound`` if the camera was removed.
    init(
        _ media: CameraMedia, _ outlet: any RestreamOutlet, onClose: @escaping @Sendable () -> Void
    ) throws(InletError) {
        (self.media, self.outlet, self.onClose) = (media, outlet, onClose)
        let (now, interval) = (MonotonicTime.now, media.hub.keyFrameInterval)
        var made: PacketJob?
        media.hub.attach(fromLastKeyFrame: true) { items in
            let job = PacketJob(Self.current(items, at: now, interval))
            made = job
            return job
        }
        guard let made else { throw InletError(.notFound, "The camera was removed.") }
        job = made
        media.beginUse()
        do throws(InletError) {
            // The job's thread retains the reader until the thread has ended.
            try job.begin(named: "inlet-restream", makeSink: { Sink(self) }, onEnd: { _ in self.noteEnd() })
        } catch {
            media.hub.detach(made)
            media.endUse()
            throw error
        }
    }

    /// Returns the packets to begin with. They are omitted if a newer key frame is expected soon.
    ///
    /// - Parameter interval: the time between the camera's key frames, if known.
    private static func current(
        _ items: [PacketJob.Item], at now: MonotonicTime, _ interval: Duration?
    ) -> [PacketJob.Item] {
        let first = items.lazy.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }.first
        guard let first else { return items }
        let age = now - first.captureTime
        let isExpected = interval.map { $0 - age <= longestExpectation } ?? false
        guard !first.isKey || age > oldestBeginning && isExpected else { return items }
        return items.filter { if case .start = $0 { true } else { false } }
    }

    /// Waits for the first key frame. Blocks.
    ///
    /// - Returns: whether a key frame came in time.
    func waitForBeginning() -> Bool {
        _ = begun.wait(timeout: .now() + .nanoseconds(Int(Self.firstLimit.wholeNanoseconds)))
        return beginning != nil
    }

    /// Ends a wait for the first key frame. Returns immediately.
    func giveUp() { begun.signal() }

    /// The properties of the packets; nil before the first packet.
    package var beginning: RestreamBeginning? { first.withLock { $0 } }

    /// Stops taking packets, and returns when the outlet is no longer in use. Must be called once. Blocks briefly.
    package func close() {
        leaving.signal()
        // The job's thread may be waiting for a pipeline that will not be made.
        outlet.leave()
        media.hub.detach(job)
        job.finish()
        ended.wait()
        media.endUse()
        onClose()
    }

    private func noteBeginning(_ beginning: RestreamBeginning) {
        let isFirst = first.withLock { first in
            if first != nil { return false }
            first = beginning
            return true
        }
        if isFirst { begun.signal() }
    }

    private func noteEnd() {
        begun.signal()
        outlet.end()
        ended.signal()
    }

    /// Waits between earlier packets. If they were sent at once, two seconds of packets would overflow the buffers of a
    /// UDP reader, which hold a few hundred kilobytes.
    private func pace(_ packet: EncodedPacket, after last: MonotonicTime?) {
        guard let last, MonotonicTime.now - packet.captureTime > .milliseconds(300) else { return }
        let step = min((packet.captureTime - last) / 8, .milliseconds(40))
        guard step > .zero else { return }
        if leaving.wait(timeout: .now() + .nanoseconds(Int(step.wholeNanoseconds))) == .success { leaving.signal() }
    }

    /// The sink of the job's thread. Confined to that thread.
    private final class Sink: PacketSink {
        private let reader: RestreamReader
        private var parameters: CodecParameters?
        private var needsKey = true
        private var last: MonotonicTime?

        init(_ reader: RestreamReader) { self.reader = reader }

        func start(_ parameters: CodecParameters) throws {
            if let former = self.parameters {
                // Parameter sets within the packets may change, but the properties that were announced may not. A
                // reader that connects again gets the new ones.
                guard former.codec == parameters.codec, former.hasStartCodes, parameters.hasStartCodes else {
                    throw SinkStopped()
                }
            }
            self.parameters = parameters
            needsKey = true
        }

        func write(_ packet: EncodedPacket) throws {
            guard packet.isKey || !needsKey else { throw KeyFrameNeeded() }
            if needsKey, let parameters { reader.noteBeginning(RestreamBeginning(parameters, keyFrame: packet)) }
            reader.pace(packet, after: last)
            last = packet.captureTime
            needsKey = !reader.outlet.push(packet)
            if needsKey { throw KeyFrameNeeded() }
        }

        func finish() {}
    }
}
