#if GStreamer
import Foundation
import Inlet
import Logging
import ReferenceTools
import Testing

/// Janus's VideoRoom between two Inlet captures: one publishes, the other subscribes.
@Suite(
    .tags(.rtcPeer), .serialized, .enabled(if: JanusServer.missing == nil, "\(JanusServer.missing ?? "")"))
struct JanusTests {
    /// A capture that publishes the timecode pattern.
    private final class Publisher: Sendable {
        let capturer: Capturer

        init(_ uri: String) throws {
            var configuration = CapturerConfiguration()
            configuration.endsWithoutSinks = true
            configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            capturer = Capturer(
                try PluginRegistry.trusting.source("pattern:timecode?size=640x480&fps=30"),
                configuration: configuration)
            capturer.attach(try PluginRegistry.trusting.sink(uri))
        }

        /// Runs until something is done, or until the sink ends.
        ///
        /// - Returns: why the sink ended.
        @discardableResult
        func run(_ meanwhile: (() async throws -> Void)? = nil) async throws -> InletError? {
            let events = capturer.events
            async let failure: InletError? = {
                var first: InletError?
                for await event in events {
                    if case .sinkEnded(_, _, let error?) = event { first = first ?? error }
                }
                return first
            }()
            async let running = capturer.run()
            if let meanwhile {
                do { try await meanwhile() } catch {
                    capturer.stop()
                    _ = try? await running
                    _ = await failure
                    throw error
                }
                capturer.stop()
            }
            _ = try? await running
            return await failure
        }
    }

    @Test(
        "A subscriber reads everything that is published in a room, even if it joins first",
        arguments: ["h264", "vp8"], [true, false])
    func room(codec: String, isSubscriberFirst: Bool) async throws {
        let server = try JanusServer()
        defer { server.stop() }
        let publisher = try Publisher("\(server.address)?room=1234&display=door&codec=\(codec)")
        let subscriber = try NetworkRun(
            "\(server.address)?room=1234&display=door&codec=\(codec)&connect-timeout=20s", frames: 90)
        if isSubscriberFirst {
            let playing = Task { try await subscriber.play() }
            try await publisher.run {
                let result = try await playing.value
                #expect(try result.get() == .frameLimit)
            }
        } else {
            try await publisher.run {
                try await Waiting.until("a session", progress: { publisher.capturer.statistics.delivered }) {
                    publisher.capturer.statistics.delivered > 60
                }
                #expect(try await subscriber.play().get() == .frameLimit)
            }
        }
        #expect(subscriber.log.readings.count == 90)
        expectWhole(subscriber.log.readings)
    }

    @Test("Problems with a room have clear errors, for publishers and for subscribers")
    func refusals() async throws {
        let server = try JanusServer()
        defer { server.stop() }
        let holder = try Publisher("\(server.address)?room=4321&pin=hum-a-tune&id=77")
        let viewer = try NetworkRun("\(server.address)?room=4321&pin=hum-a-tune&feed=77", frames: 30)
        try await holder.run {
            // The stream exists when its pictures arrive.
            #expect(try await viewer.play().get() == .frameLimit)
            for (query, code) in [
                ("room=99", InletError.Code.notFound), ("room=4321", .authenticationFailed),
                ("room=4321&pin=wrong-tune", .authenticationFailed),
                ("room=4321&pin=hum-a-tune&id=77&connect-timeout=2s", .busy),
            ] {
                let error = try await Publisher("\(server.address)?\(query)").run()
                #expect(error?.code == code, "\(query): \(String(describing: error))")
                #expect(error.map { !"\($0)".contains("tune") } ?? false)
            }
            for (query, code) in [
                ("room=99", InletError.Code.notFound), ("room=4321&pin=wrong-tune", .authenticationFailed),
                ("room=1234&connect-timeout=3s", .notFound),
                ("room=4321&pin=hum-a-tune&feed=5&connect-timeout=3s", .notFound),
            ] {
                guard case .failure(let error) = try await NetworkRun("\(server.address)?\(query)").play() else {
                    Issue.record("\(query) is read")
                    continue
                }
                #expect(error.code == code, "\(query): \(error)")
            }
        }
    }

    @Test("TLS checks the certificate against the given authority and the name; both ends suggest a remedy")
    func certificates() async throws {
        let server = try JanusServer(certificateName: "localhost")
        defer { server.stop() }
        let elsewhere = try JanusServer(certificateName: "janus.example")
        defer { elsewhere.stop() }
        let plain = try JanusServer()
        defer { plain.stop() }
        let room = "?room=1234&connect-timeout=20s"
        let trusted = "tls-ca=\(try #require(server.authority))"
        let other = "tls-ca=\(try #require(server.otherAuthority))"
        let theirs = "tls-ca=\(try #require(elsewhere.authority))"
        let publisher = try Publisher("\(server.address)\(room)&\(trusted)")
        let subscriber = try NetworkRun("\(server.address)\(room)&\(trusted)", frames: 30)
        try await publisher.run {
            let result = try await subscriber.play()
            #expect(try result.get() == .frameLimit)
        }
        expectWhole(subscriber.log.readings)
        for (uri, words) in [
            // Neither the system's authorities nor another one issued the certificate.
            ("\(server.address)\(room)", ["is not trusted", "tls-ca"]),
            ("\(server.address)\(room)&\(other)", ["is not trusted", "tls-ca"]),
            ("\(elsewhere.address)\(room)&\(theirs)", ["mismatch", "Connect by a name or address that"]),
            ("janus+wss://127.0.0.1:\(plain.port)/\(room)&\(trusted)", ["port expects TLS"]),
        ] {
            let refused = try await Publisher(uri).run()
            #expect(refused?.code == .tlsFailed, "\(uri): \(String(describing: refused))")
            guard case .failure(let missed) = try await NetworkRun(uri).play() else {
                Issue.record("\(uri) is read")
                continue
            }
            #expect(missed.code == .tlsFailed, "\(uri): \(missed)")
            for word in words {
                #expect(refused?.message.contains(word) == true, "\(uri): \(String(describing: refused))")
                #expect(missed.message.contains(word), "\(uri): \(missed)")
            }
        }
        // A file of authorities that is empty.
        let refused = try await Publisher("\(server.address)\(room)&tls-ca=/dev/null").run()
        #expect(refused?.code == .invalidConfiguration, "\(String(describing: refused))")
        #expect(refused?.message.contains("Set tls-ca to a PEM file") == true, "\(String(describing: refused))")
    }

    @Test("Janus that is killed and comes back carries the pictures again, both ways", .timeLimit(.minutes(3)))
    func restart() async throws {
        let first = try JanusServer()
        let port = first.port
        let publisher = try Publisher("\(first.address)?room=1234")
        let subscriber = try NetworkRun(
            "\(first.address)?room=1234&read-timeout=2s&connect-timeout=5s", retry: NetworkRun.quickRetry)
        try await publisher.run {
            _ = try await subscriber.play { run in
                try await run.frames(beyond: 30)
                let before = run.log.readings.count
                first.stop()
                let second = try JanusServer(port: port)
                defer { second.stop() }
                try await run.frames(beyond: before + 60)
            }
        }
        let times = subscriber.log.readings.map(\.timestamp)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        #expect(subscriber.log.readings.allSatisfy { $0.number != nil }, "unreadable pictures")
    }
}
#endif
