#if GStreamer
import ArgumentParser
import Inlet
import InletSystem
import RoomsPlugin

/// The options that `inlet call` and `inlet answer` share.
struct CallOptions: ParsableArguments {
    @Option(help: "The room, as `inlet signal` prints it: ws://HOST:PORT/ROOM, or wss: for TLS.")
    var signal: String

    @Option(name: .customLong("as"), help: "The name by which others call this side.")
    var name: String

    @Option(help: "The room's token, if it is not in the address.")
    var token: String?

    @Option(help: "A file whose first line is the room's token.")
    var tokenFile: String?

    @Option(
        name: .customLong("to"),
        help: "A sink URI for the other side's pictures. May be given several times. The default is null:.")
    var sinks: [String] = []

    @Option(
        help: "Hang up after pictures have flowed for this long, such as 60 or 500ms. The default is no limit.",
        transform: { try RunCommand.time($0, "--duration") })
    var duration: Duration?

    @Option(
        help: "How long a call rings. The default is \(CallPolicy().ringing.optionText).",
        transform: { try RunCommand.time($0, "--ring") })
    var ring: Duration?

    @Option(help: "The report on standard error at the end of each call: json, text or none.")
    var report = ReportStyle.text

    @OptionGroup(title: "Paths") var relays: RelayOptions

    func validate() throws {
        guard token == nil || tokenFile == nil else {
            throw ValidationError("Give --token or --token-file, not both.")
        }
    }

    /// The policy of calls.
    var policy: CallPolicy {
        var policy = CallPolicy()
        if let ring {
            policy.ringing = ring
            policy.reaching = min(policy.reaching, ring)
        }
        return policy
    }

    /// Returns the service of the room.
    func service() throws(InletError) -> any SignalingService {
        var secret = token
        if let tokenFile { secret = try SecretFile.firstLine(of: tokenFile) }
        var configuration = try WebSocketSignalingConfiguration(signal, id: try PeerID(name), token: secret)
        configuration.namePatience = .seconds(5)
        return try WebSocketSignaling(configuration)
    }
}

/// A secret in a file.
enum SecretFile {
    /// Returns the first line of a file.
    static func firstLine(of path: String) throws(InletError) -> String {
        let bytes = try RegularFile.read(
            path, most: LocalAccess.longestSecret, content: "a token", advice: "A token is read from a file.")
        return String(decoding: bytes.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }
}
#endif
