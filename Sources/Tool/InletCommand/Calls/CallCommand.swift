#if GStreamer
import ArgumentParser
import Inlet

struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Calls a peer: sends the pictures of a source and receives the peer's.",
        discussion: """
            The peers find each other in a room of `inlet signal`. Pictures go from peer to peer, without sound. \
            Ctrl-C hangs up. The other side may be `inlet answer` or the page that `inlet signal` serves.

            Examples:

              inlet call ben --signal ws://127.0.0.1:8443/lobby --as anna v4l2:
              inlet call ben --signal ws://127.0.0.1:8443/lobby --as anna pattern:smpte --to preview:
              inlet call ben --signal ws://127.0.0.1:8443/lobby --as anna v4l2: --duration 60 --report json

            Exit codes: 0 a side hung up, 68 no peer of this name is in the room, 69 the peer did not answer, \
            74 the call failed, 75 busy or no path, 77 declined, 130 cancelled by this side.
            """)

    @Argument(help: "The name of the peer.")
    var peer: String

    @Argument(help: "A source URI or a path, whose pictures are sent to the peer.")
    var source: String

    @OptionGroup var options: CallOptions

    func run() async throws {
        let peer = try PeerID(peer)
        let run = try CallRun(source, options) { .ring }
        try await run.run { calls in await calls.place(peer) }
    }
}

struct AnswerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer",
        abstract: "Waits for a call: sends the pictures of a source and receives the caller's.",
        discussion: """
            At a terminal, the command asks about each call. The source is opened when its pictures are needed, \
            and closed after the call.

            Examples:

              inlet answer --signal ws://127.0.0.1:8443/lobby --as ben v4l2: --to preview:
              inlet answer --signal ws://127.0.0.1:8443/lobby --as door v4l2: --auto --calls 100
              inlet answer --signal ws://127.0.0.1:8443/lobby --as ben v4l2: --busy --retry-after 60

            Exit codes: 0 a side hung up, or the call was declined as requested, 69 missed or given up by the \
            caller, 74 the call failed, 75 no path, 77 declined, 130 interrupted.
            """)

    @Argument(help: "A source URI or a path, whose pictures are sent to the caller.")
    var source: String

    @OptionGroup var options: CallOptions

    @Flag(help: "Answer each call.")
    var auto = false

    @Flag(help: "Decline each call.")
    var decline = false

    @Flag(help: "Report busy to each caller.")
    var busy = false

    @Option(help: "With --decline, the reason to send to the caller.")
    var reason: String?

    @Option(
        help: "With --busy, the time after which the caller may try again.",
        transform: { try RunCommand.time($0, "--retry-after") })
    var retryAfter: Duration?

    @Option(
        help: "End after N calls. The default is 1.",
        transform: { Int(clamping: try RunCommand.positive($0, "--calls")) })
    var calls = 1

    func validate() throws {
        guard [auto, decline, busy].count(where: { $0 }) <= 1 else {
            throw ValidationError("Give one of --auto, --decline and --busy.")
        }
        guard reason == nil || decline else { throw ValidationError("--reason goes with --decline.") }
        guard retryAfter == nil || busy else { throw ValidationError("--retry-after goes with --busy.") }
    }

    func run() async throws {
        let (auto, decline, busy, reason, retryAfter) = (auto, decline, busy, reason, retryAfter)
        let run = try CallRun(source, options, calls: calls) {
            if auto { return .answer }
            if decline { return .decline(reason) }
            if busy { return .busy(retryAfter) }
            return Terminal.isInteractive && Terminal.hasKeyboard ? .ask : .ring
        }
        try await run.run { _ in }
    }
}
#endif
