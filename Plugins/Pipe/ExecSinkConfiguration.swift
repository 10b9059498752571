public import InletCore
import InletPrograms

/// Another program, which gets the pictures on its standard input: `exec:ffplay -`.
///
/// A picture of a different size than the first is rejected with ``InletError/Code/unsupported``. The program shares
/// this process's standard output. If it fails, the last lines of its standard error become part of the error.
public struct ExecSinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The command to run. In the arguments of ``Command/program(_:)``, `{size}`, `{width}`, `{height}` and `{rate}`
    /// are replaced by the values of the first frame.
    public var command: Command
    /// The format of the pictures. The default is ``Format-swift.enum/y4m``.
    public var format: Format
    /// The time that the program may take for one frame before the sink fails. The default is 5 seconds.
    public var timeout: Duration
    /// The time that the program may run after its input has ended. Then it gets SIGTERM, and one second later
    /// SIGKILL. The default is 2 seconds: the sum is less than `CapturerConfiguration.stopTimeout`.
    public var finish: Duration

    /// A program with its arguments, or a shell command.
    public enum Command: Sendable, Hashable {
        /// A program, found through `PATH`, and its literal arguments.
        case program([String])
        /// A command line for `/bin/sh -c`. It must not come from an untrusted source.
        case shell(String)
    }

    /// The format of the pictures in the program's input.
    public enum Format: String, Sendable, Hashable, ChoiceOptionValue {
        /// YUV4MPEG2, which states size, rate and range itself.
        case y4m
        /// The planes of each picture, without padding or headers.
        case i420
    }

    public init(
        _ command: Command, format: Format = .y4m, timeout: Duration = .seconds(5), finish: Duration = .seconds(2)
    ) {
        self.command = command
        self.format = format
        self.timeout = timeout
        self.finish = finish
    }

    /// The sink's URI. Recognisable credentials, in addresses and after names such as `--password`, are redacted.
    public var redactedURI: String {
        switch command {
        case .program(let words): Redaction.redact("exec:" + CommandWords.join(words))
        case .shell(let line): Redaction.redact("exec:" + line)
        }
    }

    /// Returns a sink with this configuration. Starts nothing yet.
    public func makeSink() -> any FrameSink { ExecSink(self) }
}

extension SinkPlugin {
    /// The plug-in for `exec:COMMAND`.
    public static let exec = SinkPlugin(
        PluginInfo(
            name: "ExecSink", schemes: ["exec"],
            summary: "Starts a program and writes the pictures to its standard input.",
            usage: "'exec:PROGRAM ARGUMENT...'; write a ? as %3F",
            options: [
                ExecOptions.format.description, ExecOptions.shell.description, ExecOptions.timeout.description,
                ExecOptions.finish.description,
            ],
            examples: [
                "exec:ffplay -", "exec:ffmpeg -y -i - out.mp4",
                "exec:x264 --demuxer y4m - -o out.264 2>x264.log?shell=true",
            ])
    ) { uri, values in
        let command: ExecSinkConfiguration.Command =
            values[ExecOptions.shell]
            ? .shell(uri.rest)
            : .program(
                try CommandWords.split(uri.rest, of: "exec:", remedy: "Complete it, or add shell=true."))
        return ExecSinkConfiguration(
            command, format: values[ExecOptions.format], timeout: values[ExecOptions.timeout],
            finish: values[ExecOptions.finish])
    }
}

private enum ExecOptions {
    private static let defaults = ExecSinkConfiguration(.program([]))
    static let format = PluginOption(
        "format", default: defaults.format, "The format of the program's input")
    static let shell = PluginOption("shell", default: false, "Run the command with /bin/sh")
    static let timeout = PluginOption(
        "timeout", default: defaults.timeout, in: .milliseconds(10)...(.seconds(3600)),
        "How long the program may take for a frame")
    static let finish = PluginOption(
        "finish", default: defaults.finish, in: .zero...(.seconds(3600)),
        "How long it may run after the last frame before it is terminated")
}
