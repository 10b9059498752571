import FoundationEssentials
import InletCore
import InletRTC

/// The viewers in `/stats.json`. Times are in seconds. Names are truncated, because anyone who knows a name could
/// end the session.
enum ViewersJSON {
    static func text(of viewers: [ViewerStatistics]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let report = Report(viewers: viewers.map(Viewer.init))
        return (try? encoder.encode(report)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private struct Report: Encodable { var viewers: [Viewer] }

    private struct Viewer: Encodable {
        var viewer, state, codec: String
        var tier: Int?
        var roundTrip: Double?
        var bitrate, lost, keyFrameRequests, sent, dropped: Int
        var messages: Messages

        struct Messages: Encodable { var received, sent, dropped: Int }

        init(_ viewer: ViewerStatistics) {
            self.viewer = String(viewer.viewer.prefix(8))
            (state, codec) = ("\(viewer.state)", "\(viewer.codec)")
            tier = viewer.tier
            roundTrip = viewer.roundTrip.map { Double($0.wholeNanoseconds) / 1e9 }
            (bitrate, lost) = (viewer.bitrate, viewer.packetsLost)
            keyFrameRequests = viewer.keyFrameRequests
            (sent, dropped) = (viewer.framesSent, viewer.framesDropped)
            messages = Messages(
                received: viewer.messagesReceived, sent: viewer.messagesSent, dropped: viewer.messagesDropped)
        }
    }
}
