#if GStreamer
import Foundation
import Inlet
import Logging
import ReferenceTools
import Synchronization
import Testing

/// A host that publishes, and aiortc guests, in a room over WebSockets: in any order, and after either is killed,
/// pictures flow in the end.
@Suite(.tags(.rtcPeer), .serialized)
struct RoomOrderTests {
    /// The guests' process, and the room that they join.
    private struct Guests {
        let process: PeerProcess
        let room: String

        struct Report {
            var count, unread, fallen, sessions: Int
        }

        func join(_ name: String, viewer: String? = nil) throws {
            var parameters: [String: PeerValue] = ["name": .string(name), "url": .string("\(room)?id=\(name)")]
            if let viewer { parameters["viewer"] = .string(viewer) }
            try process.send("join", parameters)
        }
        func kill(_ name: String) throws { try process.send("kill", ["name": .string(name)]) }
        func leave(_ name: String) throws { try process.send("leave", ["name": .string(name)]) }
        func report(_ name: String) throws -> Report {
            let it = try process.send("report", ["name": .string(name)])
            return Report(
                count: it["count"]?.int ?? 0, unread: it["unread"]?.int ?? 0, fallen: it["fallen"]?.int ?? 0,
                sessions: it["sessions"]?.int ?? 0)
        }

        /// Waits until a guest has read this many numbers in its present session, each greater than the last.
        func pictures(_ count: Int, of name: String) async throws {
            try await Waiting.until("pictures of \(name)", progress: { try report(name).count }) {
                try report(name).count >= count
            }
            let seen = try report(name)
            #expect(seen.fallen == 0 && seen.unread == 0, "\(seen)")
        }
    }

    /// One lifetime of the host: a room member that has a session with each guest.
    private final class Host: Sendable {
        let room: WebSocketSignaling
        private let publisher: PeerPublisher
        private let sessions = Mutex<[PeerID: any PeerSession]>([:])
        private let count = Mutex(0)
        private let following = Mutex<Task<Void, Never>?>(nil)

        init(_ address: String, _ publisher: PeerPublisher) throws {
            var configuration = try WebSocketSignalingConfiguration("\(address)?id=host")
            configuration.backOff = .milliseconds(50)
            room = try WebSocketSignaling(configuration)
            self.publisher = publisher
            let events = room.events()
            let task = Task { [weak self] in
                for await event in events {
                    guard let self else { return }
                    switch event {
                    case .opened(let peers): for peer in peers { meet(peer, isAnew: false) }
                    case .joined(let peer): meet(peer, isAnew: false)
                    case .reset(let peer): meet(peer, isAnew: true)
                    case .left(let peer): part(peer)
                    default: break
                    }
                }
            }
            following.withLock { $0 = task }
        }

        private func meet(_ peer: PeerID, isAnew: Bool) {
            let session = sessions.withLock { $0[peer] }
            if let session {
                if case .ended = session.state {} else if !isAnew { return }
                session.close()
            }
            let number = count.withLock { count in
                count += 1
                return count
            }
            var policy = PeerSessionPolicy(role: .offering, name: "\(ObjectIdentifier(self))-\(number)")
            (policy.trickles, policy.attempts) = (true, 8)
            (policy.backOff, policy.exchange) = (.milliseconds(100), .seconds(3))
            guard let channel = try? room.channel(to: peer),
                let new = try? publisher.connect(channel, policy)
            else {
                Issue.record("no session with \(peer)")
                return
            }
            sessions.withLock { $0[peer] = new }
        }

        private func part(_ peer: PeerID) { sessions.withLock { $0.removeValue(forKey: peer) }?.close() }

        var states: [PeerSessionState] { sessions.withLock { $0.values.map(\.state) } }

        func close() async {
            for session in sessions.withLock({ Array($0.values) }) { session.close() }
            await room.close()
            following.withLock { $0 }?.cancel()
        }
    }

    /// Runs a server, guests, and a capture whose pictures the hosts send, during an action.
    private static func with(
        _ work: (_ guests: Guests, _ publisher: PeerPublisher) async throws -> Void
    ) async throws {
        var configuration = RoomServer.Configuration()
        configuration.port = 0
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try await aside { [configuration] in try RoomServer(configuration) }
        let process = try await aside {
            try PeerProcess("room-peer.py", python: RemoteTrackTests.python)
        }
        defer { process.stop() }
        let publisher = PeerPublisher { FFmpegVideoEncoder() }
        var capture = CapturerConfiguration()
        capture.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let capturer = Capturer(
            try PluginRegistry.standard.source("pattern:timecode?size=320x240&fps=30"), configuration: capture)
        capturer.attach(PeerSinkConfiguration(publisher))
        async let running = capturer.run()
        let result: Result<Void, any Error>
        do {
            let guests = Guests(process: process, room: "ws://\(server.address)/room")
            result = .success(try await work(guests, publisher))
        } catch { result = .failure(error) }
        capturer.stop()
        _ = try? await running
        try await aside { server.stop() }
        try result.get()
    }

    private static func aside<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
        }
    }

    @Test(
        "Host first, guest first, both at once; then either restarts without a goodbye: pictures flow",
        .timeLimit(.minutes(3)))
    func orders() async throws {
        try await Self.with { guests, publisher in
            // Host first.
            var host = try Host(guests.room, publisher)
            var events = host.room.events().makeAsyncIterator()
            while let event = await events.next() { if case .opened = event { break } }
            try guests.join("ann")
            try await guests.pictures(10, of: "ann")
            // The guest is killed, and joins again.
            try guests.kill("ann")
            try guests.join("ann")
            try await guests.pictures(10, of: "ann")
            // The host leaves and another joins, which is new to the guest: the guest was first.
            await host.close()
            host = try Host(guests.room, publisher)
            let before = try guests.report("ann").sessions
            try await Waiting.until("a session", progress: { try guests.report("ann").sessions }) {
                try guests.report("ann").sessions > before
            }
            try await guests.pictures(10, of: "ann")
            try guests.leave("ann")
            await host.close()
            // Both at once.
            host = try Host(guests.room, publisher)
            try guests.join("ben")
            try await guests.pictures(10, of: "ben")
            await host.close()
        }
    }

    @Test(
        "An aiortc host that is killed and comes back is seen again by an Inlet guest", .timeLimit(.minutes(3)))
    func hostKilled() async throws {
        try await Self.with { guests, _ in
            let room = try WebSocketSignaling(
                WebSocketSignalingConfiguration("\(guests.room)?id=viewer"))
            var track = RemoteTrackConfiguration { () throws(InletError) in
                try room.channel(to: PeerID("camera"))
            }
            track.track.codec = .vp8
            track.track.readTimeout = .seconds(2)
            track.track.connectTimeout = .seconds(5)
            var configuration = CapturerConfiguration()
            configuration.retry = NetworkRun.quickRetry
            configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let log = TimecodeSink.Log()
            var decoding = track
            decoding.decoders = [.ffmpeg]
            let capturer = Capturer(decoding, configuration: configuration)
            capturer.attach(TimecodeSink(log), queue: .lossless(64))
            async let running = capturer.run()
            for _ in 0..<2 {
                let before = log.readings.count
                try guests.join("camera", viewer: "viewer")
                try await Waiting.until("pictures", progress: { log.readings.count }) {
                    log.readings.count >= before + 20
                }
                try guests.kill("camera")
            }
            capturer.stop()
            _ = try? await running
            await room.close()
            #expect(log.readings.allSatisfy { $0.number != nil })
        }
    }

    @Test("Whatever joins and leaves in random order, both are connected in the end, and nothing leaks")
    func random() async throws {
        try await Self.with { guests, publisher in
            var random = SplitMix64(seed: 18)
            var host: Host? = nil
            var isGuestThere = false
            var usage = RoundUsage()
            for round in 0..<RoundUsage.rounds(by: 20) {
                switch random.next() % 5 {
                case 0 where isGuestThere:
                    try guests.kill("ann")
                    isGuestThere = false
                case 1 where isGuestThere:
                    try guests.leave("ann")
                    isGuestThere = false
                case 2 where host != nil:
                    await host?.close()
                    host = nil
                case 3 where isGuestThere && host != nil:
                    try guests.kill("ann")
                    try guests.join("ann")
                default: break
                }
                if random.next() % 2 == 0, !isGuestThere {
                    try guests.join("ann")
                    isGuestThere = true
                }
                if host == nil { host = try Host(guests.room, publisher) }
                if !isGuestThere {
                    try guests.join("ann")
                    isGuestThere = true
                }
                let states = { host?.states.map(\.description) ?? [] }
                try await Waiting.until(
                    "round \(round)", progress: { "\(try guests.report("ann")) \(states())" }
                ) { try guests.report("ann").count >= 5 && states() == ["connected"] }
                usage.note()
            }
            await host?.close()
            usage.expectNoGrowth("room")
        }
    }
}
#endif
