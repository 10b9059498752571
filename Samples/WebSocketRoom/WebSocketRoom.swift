import Foundation
import Inlet

/// Two peers meet in a room and one sends pictures to the other: `swift run --traits WebRTC WebSocketRoom`.
///
/// The room is a server of WebSockets, signaling is JSON, and the other peer is viewer.py. In the first room the viewer
/// waits, in the second the sender does.
@main struct WebSocketRoom {
    static func main() async throws {
        #if WebRTC
            let server = try await RoomServer()
            let serving = Task { try await server.run() }
            defer { serving.cancel() }
            guard FileManager.default.isExecutableFile(atPath: python) else {
                return print(
                    "There is no \(python) to watch with. Scripts/bootstrap --webrtc --test installs aiortc there.")
            }
            for isViewerFirst in [true, false] {
                let room = isViewerFirst ? "/viewer-first" : "/sender-first"
                let publisher = PeerPublisher { FFmpegVideoEncoder() }
                let capturer = Capturer(try PluginRegistry.standard.source("pattern:timecode?size=640x480&fps=30"))
                capturer.attach(PeerSinkConfiguration(publisher))
                let running = Task { try await capturer.run() }
                defer { running.cancel() }
                let viewer = Viewer()
                if isViewerFirst { try viewer.start(port: server.port, room: room) }
                let channel = try await WebSocketChannel(port: server.port, room: room)
                var policy = PeerSessionPolicy(role: .offering, name: String(room.dropFirst()))
                (policy.trickles, policy.attempts) = (true, 3)
                let session = try publisher.connect(channel, policy)
                if !isViewerFirst { try viewer.start(port: server.port, room: room) }
                for await event in session.events() {
                    if case .state(let state) = event { print("\(room): \(state)") }
                }
                print("\(room): \(await viewer.end())")
            }
        #else
            print("This sample needs WebRTC: swift run --traits WebRTC WebSocketRoom")
        #endif
    }
}

#if WebRTC
    private let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    /// Not by the link's target, as Python finds its packages by where it was called.
    private let python =
        folder.deletingLastPathComponent().deletingLastPathComponent().path + "/.build/peers/bin/python"

    /// viewer.py, which watches a few pictures, says bye and ends.
    private struct Viewer {
        private let process = Process()
        private let output = Pipe()

        func start(port: Int, room: String) throws {
            process.executableURL = URL(fileURLWithPath: python)
            process.arguments = [
                "-B", folder.appendingPathComponent("viewer.py").path, "ws://127.0.0.1:\(port)\(room)",
            ]
            process.standardOutput = output
            try process.run()
        }

        /// What it says in the end. It ends by itself.
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
