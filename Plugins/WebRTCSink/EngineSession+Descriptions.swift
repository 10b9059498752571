#if WebRTC
    import Dispatch
    import InletCore
    import InletRTC
    import InletWebRTC
    import Logging

    // Descriptions: what they say of this side's wishes, and what the peer's ask for. On the session's queue.
    extension EngineSession {
        /// Changes what this side wants of the session.
        func configure(_ configuration: PeerSessionConfiguration) {
            queue.async {
                self.wanted = configuration
                self.setSending()
                self.steer(isForced: true)
                self.handle(.change)
            }
        }

        /// Notes that the track was withdrawn or is back.
        func trackChanged() {
            queue.async { if self.isInactive != self.isSaidInactive { self.handle(.change) } }
        }

        /// Whether descriptions say that nothing is sent.
        var isInactive: Bool { !wanted.isSending || environment.track?.isWithdrawn ?? false }

        func limited(_ bitrate: Int) -> Int { min(bitrate, wanted.maximumBitrate ?? bitrate) }

        /// Has the peer sent pictures if both sides want that. Does nothing if that is so already.
        func setSending() {
            guard machine.state == .connected, isWanted, wanted.isSending, let viewer, let codec = pipeline?.codec
            else {
                lastPackets = hub.figures(of: name) ?? lastPackets
                return hub.remove(name)
            }
            hub.add(
                viewer, named: name, codec: codec, bitrate: limited(steering?.bitrate ?? environment.rates.start),
                profile: profile)
        }

        /// Opens and closes channels until there are those that are wanted.
        func openChannels() {
            for (parameters, channel) in opened where !wanted.channels.contains(parameters) {
                channel.close()
                opened[parameters] = nil
            }
            for parameters in wanted.channels where opened[parameters] == nil {
                guard let channel = viewer?.openChannel(parameters) else { continue }
                opened[parameters] = channel
                channels.add(channel)
            }
        }

        func revise(_ description: SessionDescription, _ id: PeerSessionStateMachine.EngineID) {
            do throws(PeerSessionFailure) {
                guard let viewer else { return }
                var description = description
                (description.sdp, isWanted) = VideoSectionText.taken(
                    try CandidateAddress.withoutNames(description.sdp))
                if isInactive, description.kind == .answer { isWanted = true }
                if description.kind == .answer {
                    guard let made = furtherOffer, viewer.setFurtherOffer(made) else { throw .engine }
                    furtherOffer = nil
                }
                if description.kind == .offer { description.sdp = try renumbered(description.sdp) }
                note(longestMessage: description.longestMessage)
                if description.kind == .answer { noteRejections(&description) }
                guard viewer.setRemote(description) else { throw .malformedDescription }
                setSending()
            } catch {
                say(id, .failed(error))
            }
        }

        /// Returns a further offer of the peer with the number of the format that is sent.
        private func renumbered(_ sdp: String) throws(PeerSessionFailure) -> String {
            guard let pipeline, let payload else { return sdp }
            let offer = try VideoOffer(sdp)
            guard let chosen = offer.payload(for: pipeline.codec) else { throw .noCommonCodec }
            let name = offer.payloads.first { $0.type == payload }?.name
            guard name?.lowercasedASCII != chosen.name.lowercasedASCII else { return sdp }
            return VideoSectionText.renumbered(chosen.type, as: payload, in: sdp)
        }

        func sent(_ description: SessionDescription) -> SessionDescription {
            var description = description
            if description.kind == .offer { description.sdp = OfferText.prepared(description.sdp) }
            isSaidInactive = isInactive
            description.sdp = VideoSectionText.stated(
                isInactive: isInactive, bitrate: wanted.maximumBitrate, in: description.sdp)
            description.sdp = VideoSectionText.named(wanted.trackName, in: description.sdp)
            description.sdp = SessionDescription.stating(
                longestMessage: environment.limits.receivedBytes, in: description.sdp)
            return description
        }

        func setRemote(
            _ description: SessionDescription, _ servers: [ICEServer], _ id: PeerSessionStateMachine.EngineID
        ) {
            do throws(PeerSessionFailure) {
                var description = description
                // The peer of a track that is withdrawn answers so.
                if description.kind == .answer {
                    (description.sdp, isWanted) = VideoSectionText.taken(description.sdp)
                    if isInactive { isWanted = true }
                } else {
                    isWanted = true
                }
                // An answer, too, says what the peer accepts.
                let video = try VideoOffer(description.sdp)
                let usable = description.kind == .offer ? environment.pipelines : pipeline.map { [$0] } ?? []
                guard let pipeline = usable.first(where: { video.payload(for: $0.codec) != nil }),
                    let chosen = video.payload(for: pipeline.codec)
                else { throw .noCommonCodec }
                self.pipeline = pipeline
                let ofSource = pipeline.codec == .h264 ? hub.sourceProfile.flatMap { video.payload(for: $0) } : nil
                profile = pipeline.codec == .h264 ? (ofSource ?? chosen).profile : nil
                let number = video.extensions[VideoOffer.transportWideSequence]
                steering = try? PathSteering(
                    environment.rateControl, environment.rates, isTransportWide: number != nil)
                payload = description.kind == .offer ? (ofSource ?? chosen).type : Self.offeredPayload
                if description.kind == .offer {
                    let orientation = video.extensions[VideoOffer.videoOrientation]
                    let text = pipeline.text(
                        payload: (ofSource ?? chosen).type, source: source, transportWideSequence: number,
                        orientation: orientation)
                    build(text, servers, orientation: orientation, id)
                }
                guard let viewer else { return }
                note(longestMessage: description.longestMessage)
                if description.kind == .answer { noteRejections(&description) }
                description.sdp = try CandidateAddress.withoutNames(description.sdp)
                guard viewer.setRemote(description) else { throw .malformedDescription }
            } catch {
                say(id, .failed(error))
            }
        }

        /// Notes whether an answer rejects data channels, and has the engine take one that does.
        private func noteRejections(_ answer: inout SessionDescription) {
            if !opened.isEmpty, !answer.takesMessages, !areChannelsRejected {
                areChannelsRejected = true
                if !hasWarnedOfChannels {
                    logger.warning(
                        "The peer takes no data channels: the picture is sent, and messages are dropped.",
                        metadata: ["peer": "\(name.prefix(8))"])
                }
                hasWarnedOfChannels = true
                tell(.channelsRejected)
            }
            if let offer = viewer?.description { answer.sdp = RejectedSections.completed(answer.sdp, for: offer) }
        }

        /// Returns what the engine gathered, if that suffices: it does not report a relay that refuses credentials, but
        /// then has no address there.
        func gathered(_ text: String) -> PeerSessionStateMachine.EngineEvent {
            let ice = environment.ice
            guard ice.hasRelay || ice.isRelayOnly, !text.containsBytes(" typ relay") else { return .gathered(text) }
            if !hasWarned {
                logger.warning("\(ice.noRelayWarning)")
                hasWarned = true
            }
            guard ice.isRelayOnly else { return .gathered(text) }
            return .failed(viewer?.relayFailure?.code == .tlsFailed ? .relayTLS : .noRelay)
        }
    }
#endif
