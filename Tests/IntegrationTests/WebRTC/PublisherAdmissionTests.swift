#if GStreamer
import Inlet
import ReferenceTools
import Testing

/// The admission of publishers by `whip:`: aiortc publishes, and Chromium shows the answer to its user.
@Suite(.tags(.chromium, .rtcPeer), .serialized)
struct PublisherAdmissionTests {
    /// Runs an endpoint, and one aiortc publisher.
    private static func run(
        _ admission: Admission, _ test: @escaping (NetworkRun, TrackSender, String) async throws -> Void
    ) async throws {
        var configuration = WHIPSourceConfiguration(port: try FreePort.find())
        configuration.admission = admission
        configuration.decoders = PluginRegistry.standard.decoders
        let run = NetworkRun(configuration)
        let aiortc = try TrackSender(.publish, python: RemoteTrackTests.python)
        defer { aiortc.stop() }
        _ = try await run.play { run in
            try await run.until("an interruption") {
                if case .interrupted = $0.capturer.state { true } else { false }
            }
            try await test(run, aiortc, "http://127.0.0.1:\(configuration.port)/")
        }
    }

    @Test("A publisher is admitted, declined with a reason, or asked to retry; late decisions are answered")
    func decisions() async throws {
        var admission = Admission { request in
            switch request.name {
            case "friend"? where request.kind == .publisher: return .accept(.viewOnly)
            case "later"?: return .busy(retryAfter: .seconds(90))
            case "slow"?:
                try? await Task.sleep(for: .seconds(3600))
                return .accept(.all)
            default: return .decline(reason: "Not \(request.name ?? "nobody") from \(request.address ?? "").")
            }
        }
        (admission.deadline, admission.late) = (.milliseconds(100), .busy(retryAfter: .seconds(7)))
        admission.requiresName = true
        try await Self.run(admission) { run, aiortc, address in
            for (name, status, words) in [
                ("?name=a%20foe", 403, "403 Not a foe from 127.0.0.1."), ("?name=later", 503, "503 There is no"),
                ("?name=slow", 503, "503 There is no"), ("", 403, "403 A name is required."),
            ] {
                #expect(try aiortc.publish(to: address + "whip" + name) == status)
                #expect(try aiortc.report().requests.last?.hasPrefix(words) == true, "\(name)")
            }
            #expect(try aiortc.publish(to: address + "whip?name=friend") == 201)
            try await run.frames(beyond: 15)
            expectWhole(run.log.readings)
        }
    }

    @Test(
        "With one place a second publisher is busy; one with the first's name replaces it; a page waits",
        .enabled(if: CameraBrowser.missing == nil, "\(CameraBrowser.missing ?? "")"))
    func places() async throws {
        var admission = Admission { $0.name == "foe" ? .decline(reason: "Not you.") : .accept(.all) }
        (admission.most, admission.namesakes) = (1, .replace)
        try await Self.run(admission) { run, aiortc, address in
            #expect(try aiortc.publish(to: address + "whip?name=door") == 201)
            try await run.frames(beyond: 15)
            #expect(try aiortc.publish(to: address + "whip?name=garden") == 503)
            try await run.frames(beyond: run.log.readings.count + 15)
            expectWhole(run.log.readings)
            #expect(try aiortc.publish(to: address + "whip?name=door") == 201)
            // aiortc sends both the same track, so its numbers continue.
            try await run.frames(beyond: run.log.readings.count + 15)

            let browser = try CameraBrowser()
            defer { browser.stop() }
            try browser.open(address + "?name=garden")
            try browser.start()
            try await run.until("words of a page that waits") { _ in
                (try? browser.look().trouble) == "Another publisher is connected. Trying again in 5 s."
            }
            try browser.open(address + "?name=foe")
            try browser.start()
            // The place is free, so the refusal must come from the application.
            try aiortc.leave()
            try await run.until("words of a page that is declined") { _ in
                (try? browser.look()).map { $0.trouble == "Not you." && $0.state == "off" } == true
            }
        }
    }
}
#endif
