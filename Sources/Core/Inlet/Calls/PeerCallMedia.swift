#if GStreamer
public import InletCapture
public import InletCore
public import InletRTC
public import WebRTCSink
public import WebRTCSource
import Synchronization

/// The pictures of calls over WebRTC. The pictures of a publisher are sent to the peer, and the peer's track is the
/// source of a capturer, one for each call. Safe from any thread.
///
///     let publisher = PeerPublisher { FFmpegVideoEncoder() }
///     camera.attach(PeerSinkConfiguration(publisher))
///     let media = PeerCallMedia(publisher) { call, capturer in capturer.attach(screen) }
///     let calls = try CallController(service, media: media)
///
/// Each direction has a separate session, which the sender offers. Both use one channel (``CallChannels``).
public struct PeerCallMedia: CallMedia {
    /// Sends this side's pictures.
    public var publisher: PeerPublisher
    /// How the peer's track is received and decoded. The default accepts H.264 and waits 10 seconds for pictures.
    public var track: TrackSettings
    /// How the peer's capture runs. It is not retried: if the media fails, the call ends.
    public var capture = CapturerConfiguration()
    private let receive: @Sendable (Call, Capturer) -> Void

    /// Creates the media of calls.
    ///
    /// - Parameters:
    ///   - publisher: sends this side's pictures. Attach it to a capturer as a sink: ``PeerSinkConfiguration``.
    ///   - receive: called once for each call with the capturer of the peer's track, before it runs, to attach
    ///     sinks. The call counts as connected when the first picture has arrived.
    public init(_ publisher: PeerPublisher, receive: @escaping @Sendable (Call, Capturer) -> Void) {
        self.publisher = publisher
        self.receive = receive
        track = TrackSettings()
        track.readTimeout = .seconds(10)
        track.decoders = PluginRegistry.standard.decoders
    }

    /// Begins the two sessions of a call.
    public func open(
        _ call: Call, over channel: any SignalingChannel, report: @escaping @Sendable (CallMediaEvent) -> Void
    ) throws(InletError) -> any CallMediaSession {
        let channels = CallChannels(channel, call: call.id, isCaller: call.isOutgoing)
        var policy = PeerSessionPolicy(role: .offering, name: channels.sendingName)
        (policy.trickles, policy.attempts) = (true, 2)
        let session: any PeerSession
        do throws(InletError) {
            session = try publisher.connect(channels.sending, policy)
        } catch {
            Task {
                await channels.sending.close()
                await channels.receiving.close()
            }
            throw error
        }
        var source = RemoteTrackConfiguration { () throws(InletError) in channels.receiving }
        source.name = "peer:\(call.peer)"
        source.track = track
        var configuration = capture
        configuration.retry = .never
        let capturer = Capturer(source, configuration: configuration)
        receive(call, capturer)
        return PeerCallSession(session, capturer, channels, report: report)
    }
}

/// The two sessions of one call.
final class PeerCallSession: CallMediaSession {
    private let session: any PeerSession
    private let capturer: Capturer
    private let channels: CallChannels
    private let running: Task<Void, Never>
    private let watching: [Task<Void, Never>]

    /// The state of both directions, and the events reported so far.
    private final class Progress: Sendable {
        private struct State {
            var sends = false
            var receives = false
            var choice = CallFailureChoice()
            var isOver = false
        }
        private let state = Mutex(State())
        private let report: @Sendable (CallMediaEvent) -> Void

        init(_ report: @escaping @Sendable (CallMediaEvent) -> Void) { self.report = report }

        func isUp(sends: Bool = false, receives: Bool = false) {
            let isNew = state.withLock { state in
                let before = state.sends && state.receives
                state.sends = state.sends || sends
                state.receives = state.receives || receives
                if state.sends, state.receives { state.choice.recovered() }
                return !before && state.sends && state.receives && !state.isOver
            }
            if isNew { report(.connected) }
        }

        func noteSetback(_ error: InletError) { state.withLock { $0.choice.noteSetback(error) } }

        func fail(_ error: InletError) {
            switch state.withLock({ $0.choice.fail(error) }) {
            case .report(let reason): finish(reason)
            case .wait:
                Task {
                    try? await Task.sleep(for: CallFailureChoice.patience)
                    if let reason = state.withLock({ $0.choice.timeUp() }) { finish(reason) }
                }
            case .nothing: break
            }
        }

        private func finish(_ reason: InletError) {
            state.withLock { $0.isOver = true }
            report(.failed(reason))
        }

        func end() {
            state.withLock { state in
                state.isOver = true
                state.choice.end()
            }
        }
    }
    private let progress: Progress

    init(
        _ session: any PeerSession, _ capturer: Capturer, _ channels: CallChannels,
        report: @escaping @Sendable (CallMediaEvent) -> Void
    ) {
        let progress = Progress(report)
        (self.session, self.capturer, self.channels, self.progress) = (session, capturer, channels, progress)
        let (sent, received) = (session.events(), capturer.events)
        watching = [
            Task {
                for await event in sent {
                    if case .failure(let error) = event { progress.noteSetback(error) }
                    if case .state(.connected) = event { progress.isUp(sends: true) }
                    guard case .state(.ended(let end)) = event else { continue }
                    progress.fail(
                        end.error
                            ?? InletError(.disconnected, "The peer ended the session with this side's pictures."))
                }
            },
            Task {
                for await case .stateChanged(.live) in received { progress.isUp(receives: true) }
            },
        ]
        running = Task {
            do throws(InletError) {
                _ = try await capturer.run()
                progress.fail(InletError(.disconnected, "The peer's pictures ended."))
            } catch {
                progress.fail(error)
            }
        }
    }

    func close() async {
        progress.end()
        session.close()
        capturer.stop()
        await running.value
        for task in watching { await task.value }
        // The source may never have taken its side of the channel.
        await channels.receiving.close()
    }
}
#endif
