import InletCore
import InletRTC
import WebRTCEngine

/// A viewer that connected by WHEP: an engine's session and its HTTP identifiers. Safe from any thread.
final class ViewerSession: Sendable {
    /// The session's name, which cannot be guessed.
    let name: String
    /// The ETag, without quotes.
    let tag: String
    let offer: VideoOffer
    private let session: EngineSession
    private let reply: AnswerReply
    private let permissions: AdmissionPermissions

    /// - Parameters:
    ///   - permissions: the viewer's permissions.
    ///   - connecting: the time limit from the answer to media.
    ///   - onEnd: called once, with the session's name, on its queue.
    init(
        _ offer: VideoOffer, _ environment: EngineSession.Environment, _ permissions: AdmissionPermissions,
        connecting: Duration,
        onEnd: @escaping @Sendable (String) -> Void
    ) {
        let (name, reply) = (RandomName.make(), AnswerReply())
        self.name = name
        self.reply = reply
        tag = RandomName.make()
        self.offer = offer
        self.permissions = permissions
        let broadcast = environment.broadcast
        var policy = PeerSessionPolicy(role: .answering, name: name)
        policy.connecting = connecting
        session = EngineSession(policy, environment) { [weak broadcast] event in
            switch event {
            case .send(.description(let description)): reply.give(.success(description.sdp))
            // WHEP has neither: the answer contains the candidates, and the end of DTLS ends the session.
            case .send(.candidate), .send(.bye): break
            case .state(.ended(let end)):
                reply.give(.failure(AnswerReply.NoAnswer(end: end)))
                onEnd(name)
            case .channel(let news):
                if permissions.contains(.messages) { broadcast?.tell(news, of: name) }
            case .state, .setback, .agreed, .channelsRejected: break
            }
        }
    }

    /// Answers the offer.
    func answer(_ sdp: String, onAnswer: @escaping AnswerReply.OnAnswer) {
        reply.wait(onAnswer)
        session.take(.description(SessionDescription(kind: .offer, sdp: sdp, flow: SignalingFlow(name))))
    }

    /// Adds the viewer's candidates.
    func add(_ fragment: TrickleFragment) {
        for candidate in fragment.candidates
        where candidate.mid.isEmpty || candidate.mid.utf8.elementsEqual(offer.mid.utf8) {
            session.take(
                .candidate(
                    ICECandidate(line: candidate.line, section: offer.section, flow: SignalingFlow(name))))
        }
    }

    func close(_ input: PeerSessionStateMachine.Input = .close) { session.take(input) }

    var statistics: ViewerStatistics { session.statistics }

    /// Sends a message over a data channel that the viewer opened.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` for a message that is too long.
    func send(_ body: PeerMessage.Body, over delivery: DataDelivery, labelled label: String?) throws(InletError) {
        if permissions.contains(.messages) { try session.send(body, over: delivery, labelled: label) }
    }

    /// Notifies pages that the track's state has changed.
    func tellPages() { session.tellPages() }

    /// Ends the session after pages had time to learn the reason.
    func closeTellingPages() { session.closeTellingPages() }
}
