import InletCore
import InletFFmpeg
import InletRTSP
import InletSystem
import Logging

/// Listens to the events of an ONVIF device, and reports detections to a source's context. It has its own thread,
/// which ends with the source, or as soon as the device reports that it has no events or rejects the credentials.
///
/// Failures do not affect the stream. Each kind is logged once, and the delay before the next attempt grows.
///
/// Safe from any thread.
final class ONVIFEventListener: Sendable {
    private let source: SourceContext
    /// The context of the thread. The source's deadlines do not apply to it.
    private let context: SourceContext
    private let cancelled: WakeUpSignal
    /// Signalled when the thread has ended.
    private let ended: Doorbell
    private let settings: ONVIFSession.Settings
    private let configuration: RTSPConfiguration

    /// The interval at which the subscription is renewed, a fraction of its length.
    private static let renewal = Duration.seconds(ONVIFSession.subscriptionLength / 3)
    /// The minimum interval between requests to a device that answers at once.
    private static let interval = Duration.milliseconds(200)
    /// The time limit for ending the subscription. Devices support only a few subscriptions.
    private static let farewell = Duration.seconds(2)
    private static let courtesy = Duration.milliseconds(150)
    private static let longestPause = Duration.seconds(60)

    /// - Parameter source: the source's context, for its clock, its log and the reports.
    /// - Returns: nil if no events are wanted.
    /// - Throws: ``InletError/Code/invalidConfiguration`` or ``InletError/Code/resourceExhausted``.
    init?(_ configuration: RTSPConfiguration, _ source: SourceContext) throws(InletError) {
        guard configuration.events, var settings = try configuration.onvifDevice() else { return nil }
        settings.goal = .events
        (self.settings, self.configuration, self.source) = (settings, configuration, source)
        cancelled = try WakeUpSignal()
        ended = try Doorbell()
        context = SourceContext(clock: source.clock, wakeUpDescriptor: cancelled.descriptor, logger: source.logger)
    }

    /// Starts to listen.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system refuses another thread.
    func start() throws(InletError) {
        do throws(InletError) {
            try SystemThread.start(named: "inlet-events") { [self] in run() }
        } catch {
            ended.ring()
            throw error
        }
    }

    /// Ends the subscription. Waits at most 150 ms for the thread, which itself takes at most two seconds.
    func close() {
        context.cancel()
        cancelled.raise()
        _ = ended.wait(until: .now + Self.courtesy, wakeDescriptor: -1)
    }

    // MARK: On the thread

    private func run() {
        defer { ended.ring() }
        var conditions = ONVIFConditions()
        var failures = 0
        var logged: Set<InletError.Code> = []
        while !context.isCancelled {
            var conversation = conversation(ONVIFSession(settings), context)
            do throws(InletError) {
                try listen(&conversation, &conditions, &failures)
            } catch {
                if error.code != .cancelled, logged.insert(error.code).inserted {
                    context.logger.warning(
                        "Cannot receive the events of the ONVIF device; the stream continues without them: \(error.message)"
                    )
                }
            }
            let session = conversation.session
            if session.lacksEvents || session.isRefused { break }
            if context.isCancelled {
                unsubscribe(session)
                break
            }
            failures = min(failures + 1, 6)
            let pause = min(.seconds(1 << failures), Self.longestPause)
            try? context.sleep(until: context.clock.now + pause)
        }
        for detection in conditions.end() { source.noteDetection(detection) }
    }

    /// Subscribes, and pulls events until a request fails.
    private func listen(
        _ conversation: inout ONVIFConversation, _ conditions: inout ONVIFConditions, _ failures: inout Int
    ) throws(InletError) {
        var renewed = context.clock.now
        while true {
            let start = context.clock.now
            if start - renewed >= Self.renewal {
                conversation.session.wantsRenewal = true
                renewed = start
            }
            let patience = configuration.connectTimeout + .seconds(ONVIFSession.pullLength)
            guard try conversation.step(until: start + patience) else { return }
            if conversation.session.isSubscribed { failures = 0 }
            for notice in conversation.session.takeNotices() {
                if let change = conditions.take(notice) { source.noteDetection(change) }
            }
            // A device need not wait for an event before it answers.
            if conversation.session.isSubscribed { try context.sleep(until: start + Self.interval) }
        }
    }

    private func unsubscribe(_ session: ONVIFSession) {
        guard session.isSubscribed else { return }
        let context = SourceContext(clock: context.clock, logger: context.logger)
        let end = context.clock.now + Self.farewell
        var conversation = conversation(session, context)
        conversation.session.beginEnding()
        // Repeated if the device requests credentials or its clock.
        for _ in 0..<4 where context.clock.now < end {
            guard (try? conversation.step(until: end)) == true else { return }
        }
    }

    private func conversation(_ session: ONVIFSession, _ context: SourceContext) -> ONVIFConversation {
        ONVIFConversation(
            session, device: settings.device, context, tls: configuration.tls, policy: configuration.addressPolicy,
            patience: configuration.connectTimeout + .seconds(ONVIFSession.pullLength))
    }
}
