import InletCore
import InletRTC
import WebRTCEngine

/// A publisher that connected by WHIP: its session and its HTTP identifiers. Safe from any thread.
final class PublisherSession: Sendable {
    /// The session's name, which cannot be guessed.
    let name: String
    /// The ETag, without quotes.
    let tag: String
    let offer: VideoOffer
    private let session: ReceivingSession
    private let reply: AnswerReply

    /// - Parameters:
    ///   - messaging: exchanges messages with the publisher.
    ///   - onEnd: called once, with the session's name, on its queue.
    init(
        _ offer: VideoOffer, _ environment: ReceivingSession.Environment, _ policy: PeerSessionPolicy,
        _ messaging: PeerMessaging,
        onEnd: @escaping @Sendable (String) -> Void
    ) {
        let reply = AnswerReply()
        self.reply = reply
        name = policy.name
        tag = RandomName.make()
        self.offer = offer
        session = ReceivingSession(policy, environment) { [name = policy.name] event in
            if case .state(let state) = event {
                if case .ended = state { messaging.end(name) }
                messaging.tell(.state(state), of: name)
            }
            switch event {
            case .send(.description(let description)): reply.give(.success(description.sdp))
            // WHIP has neither: the answer contains the candidates, and the end of DTLS ends the session.
            case .send(.candidate), .send(.bye): break
            case .state(.ended(let end)):
                reply.give(.failure(AnswerReply.NoAnswer(end: end)))
                onEnd(name)
            case .state: break
            case .channel(.said(let message)): messaging.tell(message)
            case .channel(.opened(let channel)): messaging.tell(.channelOpened(channel), of: name)
            case .channel(.closed(let channel)): messaging.tell(.channelClosed(channel), of: name)
            case .channel(.drained(let channel)): messaging.tell(.channelDrained(channel), of: name)
            }
        }
    }

    /// Makes an exchange of messages use this session from now on.
    func begin(_ messaging: PeerMessaging, _ limits: DataChannelLimits) {
        messaging.begin(name, limits: limits) { [weak session] in
            session?.messageCounts ?? .init()
        } send: { [weak session] body, delivery, label throws(InletError) in
            try session?.send(body, over: delivery, labelled: label)
        }
    }

    /// Answers the offer.
    func answer(_ sdp: String, onAnswer: @escaping AnswerReply.OnAnswer) {
        reply.wait(onAnswer)
        session.take(.description(SessionDescription(kind: .offer, sdp: sdp, flow: SignalingFlow(name))))
    }

    /// Adds the publisher's candidates.
    func add(_ fragment: TrickleFragment) {
        for candidate in fragment.candidates
        where candidate.mid.isEmpty || candidate.mid.utf8.elementsEqual(offer.mid.utf8) {
            session.take(
                .candidate(
                    ICECandidate(line: candidate.line, section: offer.section, flow: SignalingFlow(name))))
        }
    }

    func requestKeyFrame() { session.requestKeyFrame() }

    func close(_ input: PeerSessionStateMachine.Input = .close) { session.take(input) }
}
