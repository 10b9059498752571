import Foundation
import Inlet
import Logging
import ReferenceTools
import Testing

extension NetworkTests {
    /// A healthy camera from which few pictures are wanted.
    @Suite(.enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    struct NetworkProgressTests {
        /// Time-outs far below the interval of wanted pictures, and above a second's key frames on a busy machine.
        private static var configuration: CapturerConfiguration {
            var configuration = CapturerConfiguration()
            configuration.timeouts.stall = .milliseconds(1500)
            configuration.timeouts.nextFrame = .seconds(2)
            configuration.outage = OutagePolicy(.text, frameRate: Rational(50))
            configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            return configuration
        }

        @Test(
            "If a still is wanted occasionally, key frames are withheld, and the camera is neither silent nor reopened"
        )
        func fewWanted() async throws {
            var options = RTSPServer.Options()
            options.size = ImageSize(width: 320, height: 240)
            let server = try RTSPServer(options)
            let folder = try TemporaryFolder()
            let source = try PluginRegistry.standard.source(server.url)
            let stills = Capturer(source, configuration: Self.configuration)
            stills.attach(try PluginRegistry.standard.sink("jpeg:\(folder.path("{n}.jpg"))?every=5s"))
            // The interval that `--max-fps 1/5` requests.
            let slow = Capturer(source, configuration: Self.configuration)
            let sink = slow.attach(
                try PluginRegistry.standard.sink("null:"), wants: SinkWants(maximumFrameRate: Rational(1, 5)))
            let runs = (Task { try await stills.run() }, Task { try await slow.run() })
            let end = ContinuousClock.now + .seconds(60)
            func taken() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: folder.path("")).count }
            while try taken() < 3 || slow.statistics.sinks[0].delivered < 3, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(20))
            }
            for capturer in [stills, slow] { capturer.stop() }
            #expect(try await runs.0.value == .cancelled)
            #expect(try await runs.1.value == .cancelled)
            #expect(try taken() >= 3)
            #expect(slow.statistics.sinks.first { $0.id == sink }?.delivered ?? 0 >= 3)
            for capturer in [stills, slow] {
                let supervision = capturer.statistics.supervision
                #expect(supervision.openings == 1 && supervision.failures.isEmpty, "\(supervision)")
                #expect(supervision.placeholders == 0)
                // Only key frames were decoded; otherwise none would have been withheld.
                #expect(capturer.statistics.captured < 60, "\(capturer.statistics.captured)")
            }
        }
    }
}
