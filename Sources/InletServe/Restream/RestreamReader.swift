import Dispatch
import InletCore
import InletSystem
import Synchronization

/// One reader of a camera by RTSP: hands on its packets as they are, from a key frame on. Safe from any thread.
///
/// A reader has a job of its own at the camera's hub, so that one that is slow costs others nothing, and each begins
/// with a key frame. The camera has one session for all of them.
package final class RestreamReader: Sendable {
    private let media: CameraMedia
    private let outlet: any RestreamOutlet
    private let job: PacketJob
    private let first = Mutex<RestreamBeginning?>(nil)
    /// Signals that the beginning is known, or that there will be none.
    private let begun = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    /// Signals that the reader leaves.
    private let leaving = DispatchSemaphore(value: 0)
    private let onClose: @Sendable () -> Void

    /// The age up to which a reader begins with the last key frame. A reader that plays by the packets' times stays
    /// late by that age, so it waits for the next key frame if that one is expected soon.
    private static let oldestBeginning = Duration.seconds(2)
    /// The longest time that a reader waits for an expected key frame. Otherwise it begins with the last one.
    private static let longestExpectation = Duration.seconds(10)
    /// How long a reader waits for its first key frame.
    static let firstLimit = Duration.seconds(15)

    /// Begins to take packets.
    ///
    /// - Parameters:
    ///   - onClose: called once when it is closed.
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system refuses a thread; ``InletError/Code/notFound`` if
    ///   the camera was removed.
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
            // The job's thread holds the reader until it has ended.
            try job.begin(named: "inlet-restream", makeSink: { Sink(self) }, onEnd: { _ in self.noteEnd() })
        } catch {
            media.hub.detach(made)
            media.endUse()
            throw error
        }
    }

    /// Returns the packets to begin with: none if a newer key frame is expected soon.
    ///
    /// - Parameter interval: the time between the camera's key frames, if it is known.
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
    /// - Returns: whether there was one in time.
    func waitForBeginning() -> Bool {
        _ = begun.wait(timeout: .now() + .nanoseconds(Int(Self.firstLimit.wholeNanoseconds)))
        return beginning != nil
    }

    /// Ends a wait for the first key frame. Returns at once.
    func giveUp() { begun.signal() }

    /// What its packets are; nil before the first one.
    package var beginning: RestreamBeginning? { first.withLock { $0 } }

    /// Takes no more packets, and returns when the outlet is not used any more. Called once. Blocks briefly.
    package func close() {
        leaving.signal()
        // Its thread may wait for a pipeline that is not made any more.
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

    /// Waits between packets of before: sent at once, those of two seconds would overflow the buffers of a reader by
    /// UDP, which hold some hundred kilobytes.
    private func pace(_ packet: EncodedPacket, after last: MonotonicTime?) {
        guard let last, MonotonicTime.now - packet.captureTime > .milliseconds(300) else { return }
        let step = min((packet.captureTime - last) / 8, .milliseconds(40))
        guard step > .zero else { return }
        if leaving.wait(timeout: .now() + .nanoseconds(Int(step.wholeNanoseconds))) == .success { leaving.signal() }
    }

    /// What the job's thread hands packets to. Confined to that thread.
    private final class Sink: PacketSink {
        private let reader: RestreamReader
        private var parameters: CodecParameters?
        private var needsKey = true
        private var last: MonotonicTime?

        init(_ reader: RestreamReader) { self.reader = reader }

        func start(_ parameters: CodecParameters) throws {
            if let former = self.parameters {
                // Parameter sets within the packets may change; what was told of before may not. A reader that asks
                // again is told anew.
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
