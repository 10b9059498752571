#if GStreamer
import InletCore
import InletRTC
import ReferenceTools
import Testing

@testable import WebRTCSink

/// The admission of viewers, tested with curl, and the rights of admitted viewers.
@Suite(.tags(.rtcPeer)) struct ViewerAdmissionTests {
    private static let offer = ["-H", "content-type: application/sdp", "--data-binary", ThrowawayOffer.sdp]

    @Test("A viewer is admitted, declined with a reason, or asked to retry, and late decisions are answered")
    func decisions() async throws {
        var admission = Admission { request in
            switch request.name {
            case "friend"?: return .accept(.all)
            case "later"?: return .busy(retryAfter: .seconds(90))
            case "slow"?:
                try? await Task.sleep(for: .seconds(3600))
                return .accept(.all)
            default: return .decline(reason: "Not \(request.name ?? "nobody") from \(request.address ?? "").")
            }
        }
        (admission.deadline, admission.late) = (.milliseconds(100), .busy(retryAfter: .seconds(7)))
        admission.requiresName = true
        let table: [(String, Int, String)] = [
            ("/whep?name=friend", 201, "v=0"), ("/whep?name=a%20foe", 403, "Not a foe from 127.0.0.1."),
            ("/whep?name=later", 503, "retry-after: 90\r\n"), ("/whep?name=slow", 503, "retry-after: 7\r\n"),
            ("/whep", 403, "A name is required."), ("/whep?name=%1B%5B2J", 403, "Not \\u{1B}[2J from"),
        ]
        try await ViewerRun.with(change: { $0.admission = admission }) { (run: ViewerRun) async throws in
            for (path, status, text) in table {
                let answer = try await run.curl(["-i"] + Self.offer, path)
                #expect(answer.contains(" \(status) "), "\(path): \(answer)")
                #expect(answer.contains(text), "\(path): \(answer)")
            }
        }
    }

    @Test("The number of viewers is limited, and one with a name in use is declined, or replaces the other")
    func rules() async throws {
        var few = Admission()
        few.most = 2
        var unique = Admission()
        unique.namesakes = .declined
        var replacing = Admission()
        (replacing.most, replacing.namesakes) = (1, .replace)
        let table: [(Admission, [String], [Int])] = [
            (few, ["a", "b", "c"], [201, 201, 503]), (unique, ["a", "b", "a"], [201, 201, 403]),
            (replacing, ["a", "a", "b"], [201, 201, 503]),
        ]
        for (admission, names, statuses) in table {
            try await ViewerRun.with(change: { $0.admission = admission }) { (run: ViewerRun) async throws in
                for (name, status) in zip(names, statuses) {
                    #expect(
                        try await run.status("/whep?name=\(name)", Self.offer) == status, "\(names): \(name)")
                }
            }
        }
    }

    @Test(
        "A viewer with view-only rights gets no message, and its messages are ignored",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func viewOnly() async throws {
        struct Seen: Decodable {
            var status: Int
            var counts: [Int]
        }
        let admission = Admission { $0.name == "chatty" ? .accept(.all) : .accept(.viewOnly) }
        try await ViewerRun.with(size: ImageSize(width: 320, height: 240)) {
            $0.admission = admission
        } _: { (run: ViewerRun) async throws in
            let messages = run.broadcast.messages
            let echo = Task { [broadcast = run.broadcast] in
                for await message in messages {
                    try? broadcast.send(
                        message.body, over: message.channel == "control" ? .ordered : .lossy,
                        labelled: message.channel)
                }
            }
            defer { echo.cancel() }
            // Three texts, three binary messages, and an empty one of each kind.
            for (name, count) in [("quiet", 0), ("chatty", 8)] {
                let seen: Seen = try await ViewerRun.peer(
                    "whep-messages.py", python: ViewerRun.aiortcPython,
                    [run.address + "/whep?name=\(name)", "--count", "3", "--seconds", count == 0 ? "2" : "20"])
                #expect(seen.status == 201)
                #expect(seen.counts == [count, count], "\(name)")
            }
        }
    }
}
#endif
