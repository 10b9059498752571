import Dispatch
import InletCore
import InletRTC
import InletSystem
import Logging
import Synchronization
import WebRTCEngine

/// The track of a session whose signaling is a channel: that of WHEP, or one of the application.
///
/// Two tasks carry messages in order: from the peer to the session, and from the session to the channel. Both end
/// with the session.
final class SignaledTrack: TrackOrigin {
    private let settings: TrackSettings
    private let pipeline: ReceivingPipeline
    private let role: PeerSessionPolicy.Role
    private let makeChannel: @Sendable () throws(InletError) -> any SignalingChannel
    private var session: ReceivingSession?
    private var closing: DispatchGroup?
    /// Left when all messages have been sent.
    private let talking = DispatchGroup()
    private static let endLimit = DispatchTimeInterval.seconds(1)

    /// - Parameters:
    ///   - role: the side that makes the offer.
    ///   - makeChannel: returns the channel for one session.
    init(
        _ settings: TrackSettings, _ pipeline: ReceivingPipeline, role: PeerSessionPolicy.Role,
        makeChannel: @escaping @Sendable () throws(InletError) -> any SignalingChannel
    ) {
        self.settings = settings
        self.pipeline = pipeline
        self.role = role
        self.makeChannel = makeChannel
    }

    let vacancy: String? = nil

    func open(_ inbox: PacketInbox, _ context: SourceContext) throws(InletError) {
        let environment = ReceivingSession.Environment(
            pipeline: pipeline, inbox: inbox, ice: settings.ice, address: nil, hold: settings.latency,
            logger: context.logger)
        let channel = try makeChannel()
        // Sufficient for a few flows with all of their candidates.
        let (messages, outgoing) = AsyncStream.makeStream(
            of: SignalingMessage.self, bufferingPolicy: .bufferingOldest(512))
        var policy = PeerSessionPolicy(role: role, name: RandomName.make())
        policy.exchange = settings.connectTimeout
        policy.connecting = settings.connectTimeout
        let session = ReceivingSession(
            policy, environment, serversOfSignaling: { await channel.iceServers() }
        ) { event in
            switch event {
            case .send(let message): outgoing.yield(message)
            case .state(.ended): outgoing.finish()
            case .state, .channel: break
            }
        }
        (self.session, closing) = (session, environment.closing)
        let receiving = Task { [weak session] in
            for await message in channel.incoming { session?.take(.init(message)) }
            guard !Task.isCancelled else { return }
            if let failure = (channel as? any ReasonedChannel)?.failure { return inbox.fail(failure) }
            session?.take(.signalingEnded)
        }
        let following = NetworkWatch.shared.follow { [weak session] in session?.networkChanged($0) }
        talking.enter()
        Task { [talking, weak session] in
            for await message in messages {
                do throws(SignalingFailure) {
                    try await channel.send(message)
                } catch {
                    // If one candidate is missing, there may be others.
                    guard case .description(let description) = message else { continue }
                    // This reason is more informative than the failure of the exchange.
                    inbox.fail(error.error)
                    session?.take(.undelivered(description.flow, retryAfter: nil))
                }
            }
            receiving.cancel()
            following.cancel()
            await channel.close()
            talking.leave()
        }
        session.take(.start)
    }

    func requestKeyFrame() { session?.requestKeyFrame() }

    func close() {
        session?.take(.close)
        session = nil
        let end = DispatchTime.now() + Self.endLimit
        _ = talking.wait(timeout: end)
        _ = closing?.wait(timeout: end)
    }
}
