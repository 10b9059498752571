import Testing

/// A line of a document that runs `inlet`.
struct ShellExample: CustomTestStringConvertible {
    /// The document's path, relative to the package's root.
    var path: String
    /// The command as a reader types it.
    var command: String

    var testDescription: String { "\(path): \(command)" }

    /// The way in which an example ends in the test.
    enum End: Equatable {
        /// The example exits with success.
        case success
        /// The example exits with one of these statuses.
        case failure(Set<Int32>)
        /// The example is interrupted once it has written this text, and exits with the status.
        case interruption(after: String, status: Int32 = 130)
        /// The example exits with success after ten frames from an RTSP server: `--frames 10` is added to the command.
        case stream
    }

    /// The reasons why examples do not exit with success without a camera, a screen, and servers other than RTSP.
    struct Limit {
        /// A substring of the command.
        var part: String
        var end: End
        var reason: String

        /// Whether examples of this build can have the reason.
        var isOfThisBuild: Bool { ShellExample(path: "", command: part).isOfThisBuild }
    }

    /// The first reason that matches applies.
    static let limits = [
        Limit(part: "inlet config check", end: .failure([65]), reason: "there is no configuration"),
        Limit(part: "inlet serve", end: .failure([65]), reason: "there is no configuration"),
        Limit(part: "--signal ws://", end: .failure([66, 75]), reason: "there is no camera and no room"),
        Limit(part: "ffplay", end: .failure([75]), reason: "ffplay has no screen"),
        Limit(part: "v4l2:/dev/video40", end: .failure([66, 74]), reason: "there is no loopback device"),
        Limit(part: "screen:", end: .failure([66]), reason: "there is no screen"),
        Limit(part: "v4l2:", end: .failure([66]), reason: "there is no camera"),
        Limit(part: "/dev/video", end: .failure([66]), reason: "there is no camera"),
        Limit(part: "probe http", end: .failure([75]), reason: "no web server listens"),
        Limit(part: "https://host", end: .interruption(after: "Trying again"), reason: "no web server listens"),
        Limit(part: "run 'srt://", end: .interruption(after: "Trying again"), reason: "no SRT server listens"),
        Limit(part: "whip:", end: .interruption(after: "nobody publishes"), reason: "nobody publishes"),
        Limit(part: "whep+", end: .interruption(after: "Trying again"), reason: "no media server listens"),
        Limit(
            part: "whip+", end: .interruption(after: "Nothing listens at the server's port", status: 75),
            reason: "no media server listens, and no session came up"),
        Limit(part: "onvif://", end: .interruption(after: "Trying again"), reason: "there is no ONVIF device"),
        Limit(part: "--device", end: .success, reason: "why the device does not answer is listed"),
        Limit(part: "inlet discover", end: .failure([64, 75]), reason: "there is no network"),
        Limit(part: "kvs:", end: .failure([77]), reason: "there are no credentials for AWS"),
        Limit(
            part: "inlet signal", end: .interruption(after: "Signaling rooms", status: 0),
            reason: "a server runs until it is stopped"),
        Limit(part: "rtmp://server", end: .failure([75]), reason: "no media server listens"),
        Limit(part: "srt://server", end: .failure([75]), reason: "no media server listens"),
        Limit(
            part: "camera.fifo", end: .interruption(after: "no program writes to the FIFO"),
            reason: "the pipe has no writer"),
        Limit(part: "http://viewer@", end: .interruption(after: "Trying again"), reason: "no web server listens"),
        Limit(part: "rtspcap:", end: .failure([66]), reason: "there is no capture yet"),
        Limit(part: "rtsps://", end: .interruption(after: "Trying again"), reason: "the server does not use TLS"),
        Limit(part: "transport=http", end: .interruption(after: "Trying again"), reason: "no web server listens"),
        Limit(part: "camera:8080", end: .interruption(after: "Trying again"), reason: "no web server listens"),
        Limit(part: "inlet capture", end: .success, reason: "it states its duration"),
        Limit(part: "rtsp://", end: .stream, reason: "a camera's stream has no end"),
    ]

    var limit: Limit? { Self.limits.first { command.contains($0.part) } }

    /// The path at which the example expects a camera's stream.
    var streamPath: String { command.contains("camera/main") ? "/main" : "/stream" }

    /// Whether this build of the command has the features that the example needs.
    var isOfThisBuild: Bool {
        #if GStreamer
        true
        #else
        !["webrtc:", "whip+", "whip:", "whep+", "kvs:", "janus+", "inlet call ", "inlet answer "]
            .contains { command.contains($0) }
        #endif
    }

    /// The examples of all documents, except those that need a disabled trait.
    static func all() throws -> [ShellExample] {
        try FencedBlock.all().filter { ["", "sh"].contains($0.language) }.flatMap { block in
            block.lines.compactMap { ShellExample(line: $0, of: block.path) }.filter(\.isOfThisBuild)
        }
    }

    init(path: String, command: String) { (self.path, self.command) = (path, command) }

    /// Nil if the line does not run `inlet`.
    init?(line: String, of path: String) {
        var command = Substring(line)
        for lead in ["$ ", "swift run --traits GStreamer "] where command.hasPrefix(lead) {
            command = command.dropFirst(lead.count)
        }
        // A variable may be set before the command.
        guard let match = command.firstMatch(of: /^(?:[A-Z_]+=\S+ )?inlet .*/) else { return nil }
        // Output filters after the command are for the reader.
        (self.path, self.command) = (path, String(match.output.replacing(/[ ]+# .*$/, with: "")))
    }
}
