#if WebRTC
    import InletCore
    import InletRTC
    import InletWebRTC
    import Logging

    extension EngineSession {
        /// What all sessions of a sink share.
        struct Environment: Sendable {
            var hub: ViewerHub
            /// The pipelines of the codecs that can be sent, in order of preference. An offer of this side has the
            /// first.
            var pipelines: [ViewerPipeline]
            var rateControl: RateControl
            var rates: LossStepper.Settings
            var ice: ICEServers
            /// The one address at which candidates are gathered; nil for all of this machine's.
            var address: String?
            /// The limits of data channels.
            var limits: DataChannelLimits
            /// The data channels that an offer of this side opens.
            var channels: [DataChannelParameters] = []
            /// What exchanges messages with the peer; nil if sessions do that by themselves alone.
            var messaging: PeerMessaging?
            /// The names of the track in this side's descriptions.
            var trackName = TrackName()
            /// The track, whose withdrawal descriptions state; nil where there is no second offer.
            var track: SentTrack?
            /// Counts the sessions; nil for one that nobody is behind.
            var ledger: SessionLedger?
            /// Receives the viewers' statistics; nil if nobody listens.
            var broadcast: WebRTCBroadcast?
            var logger: Logger

            /// What this side wants of a session that says nothing else.
            var configuration: PeerSessionConfiguration {
                PeerSessionConfiguration(channels: channels, trackName: trackName)
            }
        }
    }
#endif
