import Dispatch
import InletCore
import Synchronization

/// Delivers frames to one sink on its own serial queue: takes from the mailbox, converts, hands over.
final class SinkDelivery: FrameReceiver {
    let id: SinkID
    let name: String
    let counters = SinkCounters()
    let ended = Completion<Void>()

    private let policy: QueuePolicy?
    private let wants: SinkWants
    private let context: DeliveryContext
    private let queue: DispatchQueue
    private let link = Mutex(Link())
    private let worker: Worker

    /// What the capture thread and the queue share, written before the first frame.
    private struct Link {
        var mailbox: Mailbox<CapturedFrame>?
        var limiter: RateLimiter?
        var isClosed = false
    }

    /// Touched on the sink's queue only, which is what makes it safe to hand around.
    private final class Worker: @unchecked Sendable {
        let sink: any FrameSink
        var format: SourceFormat?
        var hasStarted = false
        var hasEnded = false

        init(sink: any FrameSink) { self.sink = sink }
    }

    init(
        id: SinkID, name: String, sink: sending any FrameSink, wants: SinkWants, policy: QueuePolicy?,
        context: DeliveryContext
    ) {
        self.id = id
        self.name = name
        self.policy = policy
        self.wants = wants
        self.context = context
        queue = DispatchQueue(label: "inlet.\(name)")
        worker = Worker(sink: sink)
    }

    func begin(_ format: SourceFormat, room: ProducerGate) {
        let policy = policy ?? (format.pacing == .live ? .latest : .lossless())
        let mailbox = Mailbox<CapturedFrame>(policy: policy, room: room) { [weak self] in
            guard let self else { return }
            queue.async { self.drain() }
        }
        queue.async { [worker] in worker.format = format }
        link.withLock {
            guard $0.mailbox == nil else { return }
            $0.mailbox = mailbox
            $0.limiter = wants.maximumFrameRate.map(RateLimiter.init(maximumFrameRate:))
            if $0.isClosed { mailbox.close() }
        }
    }

    func offer(_ frame: CapturedFrame, isCancelled: () -> Bool) {
        let mailbox = link.withLock { link in
            link.limiter?.admits(frame.timestamp) == false ? nil : link.mailbox
        }
        guard let mailbox else {
            context.countDrop(of: frame, .rateLimited, by: self)
            return
        }
        mailbox.put(frame, isCancelled: isCancelled) { context.countDrop(of: $0, $1, by: self) }
    }

    func finish(_ error: InletError?) {
        if let mailbox = link.withLock({ $0.mailbox }) { mailbox.finish() } else { endWithoutFrames() }
    }

    func close() {
        let mailbox = link.withLock { link in
            link.isClosed = true
            return link.mailbox
        }
        if let mailbox {
            counters.countDrop(.cancelled, mailbox.close())
        } else {
            endWithoutFrames()
        }
    }

    private func endWithoutFrames() { queue.async { self.end(nil) } }

    /// Delivers until nothing waits. Runs on the queue.
    private func drain() {
        guard let mailbox = link.withLock({ $0.mailbox }) else { return }
        while true {
            switch mailbox.take() {
            case .element(let frame):
                guard !worker.hasEnded else { continue }
                if let failure = deliver(frame) {
                    counters.countDrop(.cancelled, mailbox.close())
                    end(failure.error)
                }
            case .empty: return
            case .finished:
                end(nil)
                return
            }
        }
    }

    /// Why a sink takes no more frames: an error, or nil where it had enough.
    private struct Failure { var error: InletError? }

    private func deliver(_ captured: CapturedFrame) -> Failure? {
        guard let frame = context.convert(captured, to: wants.size, for: self) else { return nil }
        do {
            if !worker.hasStarted {
                try worker.sink.start(VideoFormat(frame, of: worker.format, wants: wants))
                worker.hasStarted = true
            }
            try worker.sink.consume(frame)
        } catch is SinkStopped {
            context.countDrop(of: captured, .cancelled, by: self, stages: frame.stages)
            return Failure(error: nil)
        } catch {
            context.countDrop(of: captured, .sinkFailed, by: self, stages: frame.stages)
            return Failure(error: InletError(wrapping: error, operation: "The sink").about(name))
        }
        context.countDelivery(of: frame, to: self, consumed: context.clock.now)
        return nil
    }

    /// Finishes the sink, once. Runs on the queue.
    private func end(_ error: InletError?) {
        guard !worker.hasEnded else { return }
        worker.hasEnded = true
        var error = error
        if worker.hasStarted {
            do {
                try worker.sink.finish()
            } catch is SinkStopped {
            } catch let failure {
                error = error ?? InletError(wrapping: failure, operation: "Finishing the sink").about(name)
            }
        }
        counters.isAttached.store(false, ordering: .relaxed)
        context.onEnd(self, error)
        ended.resolve(())
    }
}

extension VideoFormat {
    /// The format of a sink's first frame.
    fileprivate init(_ frame: VideoFrame, of source: SourceFormat?, wants: SinkWants) {
        var rate = source?.frameRate
        if let most = wants.maximumFrameRate { rate = rate.map { min($0, most) } ?? most }
        self.init(
            size: frame.size, timeBase: frame.pts?.timeBase ?? source?.timeBase ?? Rational(1, 1_000_000_000),
            frameRate: rate, colorSpace: frame.colorSpace, rotation: frame.rotation,
            sampleAspectRatio: frame.sampleAspectRatio)
    }
}
