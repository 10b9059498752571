import InletCore
import InletRTC
import Logging
import WebRTCEngine

extension EngineSession {
    /// The environment that all sessions of a sink share.
    struct Environment: Sendable {
        var hub: ViewerHub
        /// The pipelines of the codecs that can be sent, in order of preference. Offers of this side contain the
        /// first one.
        var pipelines: [ViewerPipeline]
        var rateControl: RateControl
        var rates: LossStepper.Settings
        var ice: ICEServers
        /// The only address at which candidates are gathered; nil for all addresses of this machine.
        var address: String?
        /// The limits of data channels.
        var limits: DataChannelLimits
        /// The data channels that an offer of this side opens.
        var channels: [DataChannelParameters] = []
        /// The exchange of messages with the peer; nil if only the sessions exchange messages.
        var messaging: PeerMessaging?
        /// The names of the track in this side's descriptions.
        var trackName = TrackName()
        /// The track, whose withdrawal is stated in descriptions; nil without a second offer.
        var track: SentTrack?
        /// Counts the sessions; nil for a session without a viewer.
        var ledger: SessionLedger?
        /// Receives the viewers' statistics; nil if there is no listener.
        var broadcast: WebRTCBroadcast?
        var logger: Logger

        /// The default settings of this side for a session.
        var configuration: PeerSessionConfiguration {
            PeerSessionConfiguration(channels: channels, trackName: trackName)
        }
    }
}
