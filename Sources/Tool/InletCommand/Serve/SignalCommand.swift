import ArgumentParser
import Dispatch
import Inlet
import InletRTC
import InletSystem
import RoomsPlugin

struct SignalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signal",
        abstract: "Serves rooms in which peers find each other by name, for sessions and calls.",
        discussion: """
            The path of a WebSocket is the room: ws://HOST:PORT/ROOM?id=NAME. The server only carries messages; media \
            goes from peer to peer. It does not support TLS: for wss:, put a proxy in front of it. Ctrl-C ends it.

            Examples:

              inlet signal
              inlet signal 0.0.0.0:8443 --token-file room.token
              inlet signal 127.0.0.1:0 --members 2
              inlet signal 0.0.0.0:8443 --turn relay.example --turn-secret-file /run/secrets/turn
            """)

    private static let defaults = RoomLimits()

    @Argument(help: "HOST:PORT, HOST or PORT. The default is 127.0.0.1:8443; port 0 selects a free one.")
    var address = ""

    @Option(
        help: """
            The token that members present, as ?token= or as a bearer token. Without one, a token is generated if \
            other machines can reach the server.
            """)
    var token: String?

    @Option(help: "A file whose first line is the token.", completion: .file())
    var tokenFile: String?

    @Option(help: "The maximum number of rooms. The default is \(Self.defaults.rooms).")
    var rooms = Self.defaults.rooms

    @Option(help: "The maximum number of members in a room. The default is \(Self.defaults.members).")
    var members = Self.defaults.members

    @Option(help: "The maximum number of members in all rooms. The default is \(Self.defaults.connections).")
    var connections = Self.defaults.connections

    @Option(help: "The maximum number of members from one address. The default is \(Self.defaults.perAddress).")
    var perAddress = Self.defaults.perAddress

    @Option(help: "The most messages a second from a member. The default is \(Self.defaults.messagesPerSecond).")
    var messagesPerSecond = Self.defaults.messagesPerSecond

    @OptionGroup(title: "STUN and TURN servers for the sessions of all members") var servers: ICEServerOptions

    @Option(
        help: """
            How long credentials made from the secret are valid. Members get new ones after half of that time. \
            The default is \(ICEServers().lifetime.optionText).
            """,
        transform: { try RunCommand.time($0, "--turn-lifetime") })
    var turnLifetime: Duration?

    func validate() throws {
        guard token == nil || tokenFile == nil else { throw ValidationError("Give --token or --token-file, not both.") }
    }

    func run() async throws {
        var configuration = try RoomServer.Configuration(listeningAt: address)
        configuration.token = try token ?? tokenFile.map(Self.token(inFile:))
        configuration.limits.rooms = rooms
        configuration.limits.members = members
        configuration.limits.connections = connections
        configuration.limits.perAddress = perAddress
        configuration.limits.messagesPerSecond = messagesPerSecond
        configuration.ice = try servers.servers()
        if let turnLifetime { configuration.ice.lifetime = turnLifetime }
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let interrupt = Interrupt { end.finish() }
        defer { withExtendedLifetime(interrupt) {} }
        let server = try await Self.onThread { [configuration] in try RoomServer(configuration) }
        for await _ in ended {}
        try await Self.onThread { server.stop() }
    }

    private static func token(inFile path: String) throws -> String {
        let bytes = try RegularFile.read(
            path, most: LocalAccess.longestSecret, content: "a token", advice: "A token is read from a file.")
        return String(decoding: bytes.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }

    /// Runs a blocking function on another thread, because starting and stopping the server block briefly.
    private static func onThread<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result(catching: work)) }
        }
    }
}
