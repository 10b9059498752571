import Foundation
import Inlet

/// Connects two peers in a room. One sends pictures to the other: `swift run --traits GStreamer WebSocketRoom`.
///
/// The room is a WebSocket server like that of `inlet signal`, and the other peer is viewer.py. The viewer enters the
/// first room before the sender, and the second room after it.
@main struct WebSocketRoom {
    static func main() async throws {
        #if GStreamer
        var place = RoomServer.Configuration()
        place.port = 0
        let server = try RoomServer(place)
        defer { server.stop() }
        guard FileManager.default.isExecutableFile(atPath: python) else {
            return print(
                "The viewer needs \(python), which was not found. Run Scripts/bootstrap --webrtc --test.")
        }
        for isViewerFirst in [true, false] {
            let name = isViewerFirst ? "viewer-first" : "sender-first"
            let publisher = PeerPublisher { FFmpegVideoEncoder() }
            let capturer = Capturer(try PluginRegistry.standard.source("pattern:timecode?size=640x480&fps=30"))
            capturer.attach(PeerSinkConfiguration(publisher))
            let running = Task { try await capturer.run() }
            defer { running.cancel() }
            let viewer = Viewer()
            if isViewerFirst { try viewer.start("ws://\(server.address)/\(name)?id=viewer") }
            let room = try WebSocketSignaling(
                WebSocketSignalingConfiguration("ws://\(server.address)/\(name)?id=sender"))
            // The room keeps messages for the viewer until it enters.
            let channel = try room.channel(to: PeerID("viewer"))
            var policy = PeerSessionPolicy(role: .offering, name: name)
            (policy.trickles, policy.attempts) = (true, 3)
            let session = try publisher.connect(channel, policy)
            if !isViewerFirst { try viewer.start("ws://\(server.address)/\(name)?id=viewer") }
            for await event in session.events() {
                if case .state(let state) = event { print("\(name): \(state)") }
            }
            print("\(name): \(await viewer.end())")
            await room.close()
        }
        #else
        print("This sample needs WebRTC: swift run --traits GStreamer WebSocketRoom")
        #endif
    }
}

#if GStreamer
private let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
/// The path is not resolved to the link's target, because Python finds its packages by the path with which it is
/// started.
private let python =
    folder.deletingLastPathComponent().deletingLastPathComponent().path + "/.build/peers/bin/python"

/// Runs viewer.py, which receives a few pictures, sends a bye and exits.
private struct Viewer {
    private let process = Process()
    private let output = Pipe()

    func start(_ room: String) throws {
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = ["-B", folder.appendingPathComponent("viewer.py").path, room]
        process.standardOutput = output
        try process.run()
    }

    /// Returns the output once the process has exited by itself.
    func end() async -> String {
        let output = output
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                continuation.resume(returning: text.trimmingCharacters(in: .whitespacesAndNewlines))
            }
        }
    }
}
#endif
