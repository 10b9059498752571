import Inlet

/// Watches a network camera for six seconds and prints its events: `swift run NetworkCamera rtsp://camera/stream`.
///
/// Without an address, the sample runs its own camera, Motion JPEG over HTTP, and switches it off for a while.
@main struct NetworkCamera {
    private static let port = 18_090

    static func main() async throws {
        let address = CommandLine.arguments.dropFirst().first
        let ownCamera = address == nil ? Task { try await switchOnAndOff() } : nil
        if ownCamera != nil { print("No address was given. A test pattern at port \(port) replaces the camera.") }

        var configuration = CapturerConfiguration()
        configuration.durationLimit = .seconds(6)
        // After this long without frames the sample ends with an error. By default, a capturer keeps trying.
        configuration.timeouts.giveUp = .seconds(30)
        let source = try PluginRegistry.standard.source(address ?? "http://127.0.0.1:\(port)/stream.mjpg")
        let capturer = Capturer(source, configuration: configuration)
        capturer.attach(try PluginRegistry.standard.sink("null:"), queue: .latest)
        async let ended = capturer.run()
        for await event in capturer.events {
            switch event {
            case .opened(let format): print("opened: \(format.codec ?? "pictures") by \(format.container ?? "?")")
            case .sourceFailed(let error, let delay?): print("\(error.code): \(error) Next attempt in \(delay).")
            case .recovered(let outage): print("frames arrive again after \(outage)")
            default: break
            }
        }
        let reason = try await ended
        let statistics = capturer.statistics
        print("\(reason): \(statistics.captured) frames, opened \(statistics.supervision.openings) times")
        ownCamera?.cancel()
        _ = await ownCamera?.result
    }

    /// Runs a camera that switches off for a second after two seconds, and then stays on until the task is cancelled.
    private static func switchOnAndOff() async throws {
        for time in [Duration.seconds(2), .seconds(3600)] {
            let camera = Capturer(try PluginRegistry.standard.source("pattern:ball?size=320x240&fps=30&pace=realtime"))
            camera.attach(try PluginRegistry.standard.sink("preview:127.0.0.1:\(port)"))
            async let ended = camera.run()
            try? await Task.sleep(for: time)
            camera.stop()
            _ = try await ended
            try await Task.sleep(for: .seconds(1))
        }
    }
}
