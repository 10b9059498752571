import ArgumentParser
import Inlet

struct InletCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inlet",
        abstract: "Captures video from cameras, files and test patterns as I420 frames with reliable timestamps.",
        discussion: """
            Sources and sinks are named by URIs; options follow a question mark. Examples:

              inlet run clip.mp4 --to y4m:out.y4m
              inlet run 'pattern:smpte?size=640x360&fps=30' --duration 3 --to y4m:- | ffplay -
              inlet run clip.mp4 --to framemd5:-
              inlet probe clip.mp4
              inlet snapshot v4l2: door.jpg
              inlet capture rtsp://camera/stream --to camera.rtspcap --duration 20
              inlet devices
              inlet discover
              inlet run 'v4l2:?size=1280x720' --duration 10 --to y4m:camera.y4m
              inlet plugins pattern
              inlet serve cameras.yaml
              inlet explain timedOut

            Exit codes follow sysexits: 0 success, 64 usage, 65 bad data, 66 no such input, 68 no such host, \
            69 unavailable, 70 internal, 74 input or output, 75 temporary, 76 protocol, 77 permission, 130 interrupted.
            """,
        version: InletVersion.current,
        subcommands: [
            RunCommand.self, SnapshotCommand.self, CaptureCommand.self, ProbeCommand.self, LatencyCommand.self,
            ServeCommand.self, HealthCommand.self, ConfigCommand.self, SignalCommand.self, DiscoverCommand.self,
        ]
            + callCommands + cameraCommands + [PluginsCommand.self, ExplainCommand.self]
    )

    #if GStreamer
    private static let callCommands: [any ParsableCommand.Type] = [CallCommand.self, AnswerCommand.self]
    #else
    private static let callCommands: [any ParsableCommand.Type] = []
    #endif

    private static let cameraCommands: [any ParsableCommand.Type] = [DevicesCommand.self, ControlsCommand.self]
}
