import Dispatch
import InletCore
import InletRTC
import Logging
import WebRTCEngine

// Descriptions: this side's settings, and the peer's requests. On the session's queue.
extension EngineSession {
    /// Changes this side's settings for the session.
    func configure(_ configuration: PeerSessionConfiguration) {
        queue.async {
            self.wanted = configuration
            self.setSending()
            // Starting to receive takes effect only when the peer has agreed.
            if !configuration.isReceiving { self.remoteTrack.pause() }
            self.steer(isForced: true)
            self.handle(.change)
        }
    }

    /// Records that the track was withdrawn or is available again.
    func trackChanged() {
        queue.async { if self.isInactive != self.isSaidInactive { self.handle(.change) } }
    }

    /// Whether descriptions state that nothing is sent.
    var isInactive: Bool { !wanted.isSending || environment.track?.isWithdrawn ?? false }

    func limited(_ bitrate: Int) -> Int { min(bitrate, wanted.maximumBitrate ?? bitrate) }

    /// Starts sending pictures to the peer if both sides want that. Does nothing if sending has already started.
    func setSending() {
        guard machine.state == .connected, isWanted, wanted.isSending, let viewer, let codec = pipeline?.codec
        else {
            return removeLane()
        }
        hub.add(
            viewer, named: name, codec: codec, bitrate: limited(steering?.bitrate ?? environment.rates.start),
            profile: profile)
        environment.ledger?.renew()
    }

    /// Opens and closes channels until they match the wanted ones.
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

    // MARK: Codecs

    /// Whether the codec may change: signaling allows further offers, and there are several codecs.
    var takesCodecs: Bool { environment.track != nil && environment.pipelines.count > 1 }

    /// The pipelines for the wanted codecs, in order of preference.
    var usablePipelines: [ViewerPipeline] {
        guard !wanted.codecs.isEmpty else { return environment.pipelines }
        return wanted.codecs.compactMap { codec in environment.pipelines.first { $0.codec == codec } }
    }

    /// The formats for the wanted codecs, in order of preference.
    private var wantedFormats: [SentFormat] {
        usablePipelines.compactMap { pipeline in formats.first { $0.codec == pipeline.codec } }
    }

    /// Returns the text of a pipeline with the numbers of this session.
    func text(of pipeline: ViewerPipeline) -> ViewerPipeline.Text {
        pipeline.text(
            payload: payload ?? SentFormat.firstPayload, source: source,
            transportWideSequence: extensions.transportWideSequence, orientation: extensions.orientation)
    }

    /// Returns the format that an answer chooses: the first wanted format in it, or else the first of the offered
    /// ones. If the wanted formats have changed since the offer, another offer follows.
    private func chosen(by answer: VideoOffer) -> SentFormat? {
        (wantedFormats + offered).first { format in
            answer.payload(for: format.codec)?.type == format.payload
        }
    }

    /// Changes the sent format from the next key frame on, within the same stream of packets. Does nothing if the
    /// format is already being sent.
    private func change(to format: SentFormat, profile: String?) throws(PeerSessionFailure) {
        guard format.codec != pipeline?.codec || format.payload != payload else { return }
        guard let viewer, let next = environment.pipelines.first(where: { $0.codec == format.codec }) else {
            throw .noCommonCodec
        }
        removeLane()
        (pipeline, payload) = (next, format.payload)
        self.profile = format.codec == .h264 ? profile : nil
        let text = text(of: next)
        guard viewer.replace(text.chain, sending: text.caps) else { throw .engine }
    }

    func revise(_ description: SessionDescription, _ id: PeerSessionStateMachine.EngineID) {
        do throws(PeerSessionFailure) {
            guard let viewer else { return }
            var description = description
            description.sdp = try CandidateAddress.withoutNames(description.sdp)
            takeDirection(of: &description)
            var answeredOffer: String?
            if description.kind == .answer {
                guard var made = furtherOffer else { throw .engine }
                if !formats.isEmpty { made = try settle(&description.sdp, offered: made) }
                guard viewer.setFurtherOffer(made) else { throw .engine }
                (furtherOffer, answeredOffer) = (nil, made)
            } else {
                try follow(try VideoOffer(description.sdp))
                description.sdp = try renumbered(description.sdp)
            }
            note(longestMessage: description.longestMessage)
            if let answeredOffer { noteRejections(&description, of: answeredOffer) }
            try give(description, to: viewer)
            setSending()
        } catch {
            say(id, .failed(error))
        }
    }

    /// Sends the format that the peer chose in an answer, and puts it first in the answer. The answer's other
    /// formats are those that the peer may send.
    ///
    /// - Returns: this side's offer, rewritten for the engine with the same format.
    private func settle(_ answer: inout String, offered: String) throws(PeerSessionFailure) -> String {
        let video = try VideoOffer(answer)
        guard let format = chosen(by: video) else { throw .noCommonCodec }
        try change(to: format, profile: video.payload(for: format.codec)?.profile)
        answer = format.first(in: answer, before: formats)
        return SentFormat.listing([format], in: offered)
    }

    /// Changes the codec if a further offer of the peer lacks the current one, or if the current one is no longer
    /// wanted.
    private func follow(_ offer: VideoOffer) throws(PeerSessionFailure) {
        let usable = usablePipelines.map(\.codec)
        guard !formats.isEmpty, let current = pipeline?.codec,
            offer.payload(for: current) == nil || !usable.contains(current),
            let codec = usable.first(where: { offer.payload(for: $0) != nil }),
            let chosen = offer.payload(for: codec)
        else { return }
        let format = formats.first { $0.codec == codec } ?? SentFormat(codec, chosen, in: offer)
        try change(to: format, profile: chosen.profile)
    }

    /// Returns a further offer of the peer with the number of the current format.
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
        if description.kind == .offer, !formats.isEmpty {
            let wanted = wantedFormats
            // A wanted format may have no free number left among those of the peer's offer.
            offered = wanted.isEmpty ? formats.filter { $0.codec == pipeline?.codec } : wanted
            description.sdp = SentFormat.listing(offered, in: description.sdp)
        }
        if description.kind == .answer, !answered.isEmpty {
            description.sdp = SentFormat.listing(answered, in: description.sdp)
            answered = []
        }
        isSaidInactive = isInactive
        description.sdp = VideoSectionText.stated(
            description.kind == .answer ? direction.answering(remote.direction) : direction,
            bitrate: wanted.maximumBitrate, in: description.sdp)
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
            if description.kind == .answer || isTwoWay {
                takeDirection(of: &description)
                guard
                    remote.direction.receives || remote.direction.sends && wanted.isReceiving
                        || description.kind == .answer
                else { throw .noCommonCodec }
            } else {
                (isWanted, remote.direction) = (true, VideoSectionText.Direction(sends: true, receives: true))
            }
            // An answer also states what the peer accepts.
            let video = try VideoOffer(description.sdp)
            if description.kind == .answer, let format = chosen(by: video), format.codec != pipeline?.codec,
                let own = viewer?.description
            {
                // The engine has offered the first codec, and makes another offer with the codec that the peer
                // accepts.
                try change(to: format, profile: video.payload(for: format.codec)?.profile)
                let offer = SentFormat.listing([format], in: own)
                guard viewer?.setFurtherOffer(offer) == true else { throw .engine }
            }
            let usable = description.kind == .offer ? usablePipelines : pipeline.map { [$0] } ?? []
            guard let pipeline = usable.first(where: { video.payload(for: $0.codec) != nil }),
                let chosen = video.payload(for: pipeline.codec)
            else { throw .noCommonCodec }
            self.pipeline = pipeline
            let ofSource = pipeline.codec == .h264 ? hub.sourceProfile.flatMap { video.payload(for: $0) } : nil
            profile = pipeline.codec == .h264 ? (ofSource ?? chosen).profile : nil
            let number = video.extensions[VideoOffer.transportWideSequence]
            steering = try? PathSteering(
                environment.rateControl, environment.rates, isTransportWide: number != nil)
            if description.kind == .offer {
                payload = (ofSource ?? chosen).type
                let orientation = video.extensions[VideoOffer.videoOrientation]
                extensions = (number, orientation)
                formats = takesCodecs ? SentFormat.taken(environment.pipelines.map(\.codec), from: video) : []
                if let index = formats.firstIndex(where: { $0.codec == pipeline.codec }) {
                    formats[index] = SentFormat(pipeline.codec, ofSource ?? chosen, in: video)
                }
                answered = wantedFormats.filter { format in video.payloads.contains { $0.type == format.payload } }
                build(text(of: pipeline), servers, orientation: orientation, id)
            } else if let format = formats.first(where: { $0.codec == pipeline.codec }) {
                description.sdp = format.first(in: description.sdp, before: formats)
            }
            guard let viewer else { return }
            note(longestMessage: description.longestMessage)
            if description.kind == .answer { noteRejections(&description, of: viewer.description) }
            description.sdp = try CandidateAddress.withoutNames(description.sdp)
            try give(description, to: viewer)
        } catch {
            say(id, .failed(error))
        }
    }

    /// Records whether an answer rejects data channels, and rewrites such an answer for the engine.
    ///
    /// - Parameter offer: the offer that is being answered. Right after a further offer was set, the engine's own
    ///   description does not reflect it yet.
    private func noteRejections(_ answer: inout SessionDescription, of offer: String?) {
        if !opened.isEmpty, !answer.takesMessages, !areChannelsRejected {
            areChannelsRejected = true
            if !hasWarnedOfChannels {
                logger.warning(
                    "The peer rejects data channels: pictures are sent, but messages are dropped.",
                    metadata: ["peer": "\(name.prefix(8))"])
            }
            hasWarnedOfChannels = true
            tell(.channelsRejected)
        }
        if let offer { answer.sdp = RejectedSections.completed(answer.sdp, for: offer) }
    }

    /// Returns the engine's result, if it is sufficient: the engine does not report a relay that rejects
    /// credentials, but then has no address there.
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
