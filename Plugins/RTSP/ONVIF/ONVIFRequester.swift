import InletCore
import InletRTSP
import InletSystem
import Logging
import Synchronization

/// Requests key frames from an ONVIF device, at most one per second, without blocking the caller. The exchanges run on
/// a separate thread, which ends when nothing is left to do.
///
/// Failures do not affect the stream. Each kind is logged once; all are counted, and the delay before the next attempt
/// grows. Nothing more is requested once the device has rejected the credentials.
///
/// Safe from any thread.
final class ONVIFRequester: Sendable {
    private struct State {
        var memory: ONVIFMemory
        /// Whether a key-frame request must be sent.
        var isWanted = false
        /// Whether the thread is running.
        var isBusy = false
        var isClosed = false

        /// Records that a key-frame request succeeded.
        mutating func noteAnswer() {
            memory.statistics.answered &+= 1
            memory.failures = 0
            isWanted = false
        }
    }

    private let state: Mutex<State>
    private let cancelled: WakeUpSignal
    /// The context of the thread. The source's deadlines do not apply to it.
    private let context: SourceContext
    private let device: RTSPURL
    private let configuration: RTSPConfiguration

    /// The minimum interval between key-frame requests.
    private static let interval = Duration.seconds(1)
    /// The time limit for one run of the thread: all exchanges that a request needs.
    private static let patience = Duration.seconds(30)
    /// The maximum number of exchanges in one run, which exceeds those for finding the profile of a recorder.
    private static let mostExchanges = 64
    private static let longestPause = Duration.seconds(60)

    /// - Parameter source: the source's context, for its clock and its log.
    /// - Returns: nil if no key frames are requested by ONVIF.
    /// - Throws: ``InletError/Code/invalidConfiguration`` as ``RTSPConfiguration/onvifSettings()``, or
    ///   ``InletError/Code/resourceExhausted``.
    init?(_ configuration: RTSPConfiguration, _ source: SourceContext) throws(InletError) {
        guard let settings = try configuration.onvifSettings() else { return nil }
        self.configuration = configuration
        device = settings.device
        cancelled = try WakeUpSignal()
        context = SourceContext(clock: source.clock, wakeUpDescriptor: cancelled.descriptor, logger: source.logger)
        // The knowledge stays valid as long as device, stream and profile are the same.
        let known = configuration.memory?.onvif.flatMap { $0.session.isFor(settings) ? $0 : nil }
        state = Mutex(State(memory: known ?? ONVIFMemory(session: ONVIFSession(settings))))
    }

    /// The counts of requests so far.
    var statistics: ONVIFMemory.Statistics { state.withLock { $0.memory.statistics } }

    /// Starts to find the media service and the profile, so that the first request takes only one exchange.
    func prepare() { _ = start(at: context.clock.now, isWanted: false) }

    /// Requests a key frame, unless a request is pending or was sent less than a second ago. Does not block.
    ///
    /// - Returns: whether a new request follows.
    func request(at time: MonotonicTime) -> Bool { start(at: time, isWanted: true) }

    private func start(at time: MonotonicTime, isWanted: Bool) -> Bool {
        let (begins, isNew) = state.withLock { state in
            guard !state.isClosed, time >= state.memory.earliest else { return (false, false) }
            let isNew = isWanted && !state.isWanted
            if isWanted { state.isWanted = true }
            guard !state.isBusy else { return (false, isNew) }
            state.isBusy = true
            return (true, isNew)
        }
        guard begins else { return isNew }
        do throws(InletError) {
            try SystemThread.start(named: "inlet-onvif") { [self] in run() }
        } catch {
            fail(error, nil)
        }
        return isNew
    }

    /// Cancels the current exchange. Does not wait for the thread.
    func close() {
        let statistics = state.withLock { state in
            state.isClosed = true
            configuration.memory?.onvif = state.memory
            return state.memory.statistics
        }
        context.cancel()
        cancelled.raise()
        context.logger.debug(
            "ONVIF: \(statistics.sent) key-frame requests, \(statistics.answered) answers, \(statistics.failed) failures."
        )
    }

    // MARK: On the thread

    private func run() {
        let end = context.clock.now + Self.patience
        var memory = state.withLock { $0.memory }
        var connection = ONVIFExchange(
            wait: DescriptorWait(context: context), tls: configuration.tls, policy: configuration.addressPolicy,
            device: device, leader: memory.leader)
        do throws(InletError) {
            for _ in 0..<Self.mostExchanges {
                guard let exchange = next(&memory.session) else { return }
                let limit = min(end, context.clock.now + configuration.connectTimeout)
                let response = try connection.perform(exchange, until: limit)
                let isAnswered = try memory.session.take(response, at: Self.time)
                // Responses are parsed outside the lock, because the source's thread takes it as well.
                let (session, leader) = (memory.session, connection.leader)
                state.withLock { state in
                    (state.memory.session, state.memory.leader) = (session, leader)
                    if isAnswered { state.noteAnswer() }
                }
            }
            throw InletError(
                .malformedData,
                "Finding the stream takes too many requests to the ONVIF device. Name its profile with onvif-profile.")
        } catch {
            memory.session.restart()
            fail(error, memory.session)
        }
    }

    /// Returns the next request; nil if the thread has nothing to do, and therefore ends.
    private func next(_ session: inout ONVIFSession) -> ONVIFSession.Exchange? {
        let (now, isWanted) = (context.clock.now, state.withLock { $0.isWanted })
        var random = SystemRandomNumberGenerator()
        let nonce = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let exchange = session.next(wantsKeyFrame: isWanted, at: Self.time, nonce: nonce)
        return state.withLock { state in
            guard let exchange, !state.isClosed else {
                (state.isBusy, state.isWanted) = (false, false)
                return nil
            }
            if case .synchronizationPoint = exchange.request {
                state.memory.statistics.sent &+= 1
                state.memory.earliest = now + Self.interval
            }
            return exchange
        }
    }

    /// The time of day in seconds since 1970.
    private static var time: Int64 { HostTime.now / 1_000_000_000 }

    /// - Parameter session: the session after the failure; nil if it is unchanged.
    private func fail(_ error: InletError, _ session: ONVIFSession?) {
        let now = context.clock.now
        let isNews = state.withLock { state in
            (state.isBusy, state.isWanted) = (false, false)
            guard !state.isClosed else { return false }
            state.memory.failures = min(state.memory.failures + 1, 6)
            state.memory.statistics.failed &+= 1
            if let session { state.memory.session = session }
            let pause = min(.seconds(1 << state.memory.failures), Self.longestPause)
            state.memory.earliest = state.memory.session.isRefused ? .distantFuture : now + pause
            return state.memory.logged.insert(error.code).inserted
        }
        guard isNews else { return }
        context.logger.warning(
            "Cannot request a key frame by ONVIF; the stream continues without it: \(error.message)")
    }
}
