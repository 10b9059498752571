#if WebRTC
    import InletCore
    import InletRTC
    import Synchronization

    /// One viewer that connected by WHEP: an engine's session and its HTTP identifiers. Safe from any thread.
    final class ViewerSession: Sendable {
        /// The session's name, which cannot be guessed.
        let name: String
        /// The ETag, without quotes.
        let tag: String
        let offer: VideoOffer
        private let session: EngineSession
        private let reply: Reply

        /// Why there is no answer.
        struct NoAnswer: Error {
            var end: PeerSessionEnd
        }

        /// Called once, on the session's queue.
        typealias OnAnswer = @Sendable (Result<String, NoAnswer>) -> Void

        /// A closure that waits for the answer.
        private final class Reply: Sendable {
            private let waiting: Mutex<OnAnswer?>

            init() { waiting = Mutex(nil) }

            func wait(_ onAnswer: @escaping OnAnswer) { waiting.withLock { $0 = onAnswer } }

            func give(_ result: Result<String, NoAnswer>) {
                let onAnswer = waiting.withLock { $0.take() }
                onAnswer?(result)
            }
        }

        /// - Parameters:
        ///   - connecting: the time from the answer to media.
        ///   - onEnd: called once, with the session's name, on its queue.
        init(
            _ offer: VideoOffer, _ environment: EngineSession.Environment, connecting: Duration,
            onEnd: @escaping @Sendable (String) -> Void
        ) {
            var random = SystemRandomNumberGenerator()
            let (name, reply) = (Self.word(&random), Reply())
            self.name = name
            self.reply = reply
            tag = Self.word(&random)
            self.offer = offer
            let broadcast = environment.broadcast
            var policy = PeerSessionPolicy(role: .answering, name: name)
            policy.connecting = connecting
            session = EngineSession(policy, environment) { [weak broadcast] event in
                switch event {
                case .send(.description(let description)): reply.give(.success(description.sdp))
                // WHEP has neither: the answer holds the candidates, and the end of DTLS ends the session.
                case .send(.candidate), .send(.bye): break
                case .state(.ended(let end)):
                    reply.give(.failure(NoAnswer(end: end)))
                    onEnd(name)
                case .channel(.said(let message)): broadcast?.received(message)
                case .state, .setback, .channel: break
                }
            }
        }

        /// Returns a name that cannot be guessed: 128 random bits.
        static func word(_ random: inout SystemRandomNumberGenerator) -> String {
            (0..<2).map { _ in
                let digits = String(random.next(), radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
        }

        /// Answers the offer.
        func answer(_ sdp: String, onAnswer: @escaping OnAnswer) {
            reply.wait(onAnswer)
            session.take(.description(SessionDescription(kind: .offer, sdp: sdp, flow: SignalingFlow(name))))
        }

        /// Adds candidates of the viewer.
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
        func send(_ body: PeerMessage.Body, over delivery: DataDelivery, labelled label: String?) {
            session.send(body, over: delivery, labelled: label)
        }

        /// Notifies pages that the track's state has changed.
        func tellPages() { session.tellPages() }

        /// Ends the session after pages had time to learn why.
        func closeTellingPages() { session.closeTellingPages() }
    }
#endif
