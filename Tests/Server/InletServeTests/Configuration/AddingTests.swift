import Foundation
import ReferenceTools
import Testing

/// Trial openings of cameras before they are added, by curl.
@Suite(.tags(.daemon, .server), .serialized, .fewDaemons, .takes(atMostMinutes: 3)) struct AddingTests {
    private static let few = "few-0123456789abcdefghijklm"
    private static let pattern = "pattern:timecode?size=640x360&fps=20"

    private struct Tried: Decodable {
        var width, height: Int
        var frameRate: Double?
        var picture: Data
    }

    private func start() async throws -> ServeProcess {
        try await ServeProcess(
            "    few: {scope: admin, cameras: [yard-*], env: HOOK_TOKEN}\n"
                + "cameras:\n  door: pattern:ball?size=64x64&fps=5\n",
            environment: ["HOOK_TOKEN": Self.few])
    }

    @Test("Trying a source gives a picture and its format, to administrators only, and keeps nothing")
    func tryOut() async throws {
        let serve = try await start()
        let body = #"{"source": "\#(Self.pattern)"}"#
        let (status, answer) = try await serve.ask("POST", "/v1/try", body: body)
        try #require(status == 200, "\(String(decoding: answer, as: UTF8.self))")
        let tried = try JSONDecoder().decode(Tried.self, from: answer)
        #expect((tried.width, tried.height, tried.frameRate) == (640, 360, 20))
        let file = serve.folder.path("tried.jpg")
        try tried.picture.write(to: URL(fileURLWithPath: file))
        let facts = try await ReferenceCommand.runAside(
            "ffprobe", ["-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0", file])
        #expect(String(decoding: facts, as: UTF8.self) == "mjpeg,640,360\n")

        let named = #"{"source": "\#(Self.pattern)", "name": "yard-1"}"#
        let other = #"{"source": "\#(Self.pattern)", "name": "door"}"#
        let dead = #"{"source": "rtsp://me:pa55word@127.0.0.1:9/none"}"#
        let cases: [(Int, String, String, String?, String)] = [
            (403, "/v1/try", ServeProcess.viewer, body, "needs admin"),
            (403, "/v1/try", Self.few, body, "other cameras"),
            (403, "/v1/try", Self.few, other, "other cameras"), (200, "/v1/try", Self.few, named, "picture"),
            (403, "/v1/discover", ServeProcess.viewer, nil, "needs admin"),
            (403, "/v1/discover", Self.few, nil, "concerns all cameras"),
            (200, "/v1/discover?dry-run=true", ServeProcess.admin, nil, "dryRun"),
            (409, "/v1/try", ServeProcess.admin, dead, "Nothing listens"),
            (422, "/v1/try", ServeProcess.admin, #"{"source": "patern:"}"#, "Did you mean"),
            (422, "/v1/try", ServeProcess.admin, #"{"source": "pattern:", "sinks": []}"#, "The body must be"),
            (422, "/v1/try", ServeProcess.admin, #"{"source": "pattern:", "name": "A"}"#, "The name of a camera"),
        ]
        for (status, path, token, body, text) in cases {
            let answer = try await serve.ask("POST", path, token: token, body: body)
            let told = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == status && told.contains(text), "\(path) \(body ?? ""): \(answer.status) \(told)")
            #expect(!told.contains("pa55word"))
        }
        let list = try await serve.ask("GET", "/v1/cameras")
        #expect(!String(decoding: list.body, as: UTF8.self).contains("yard-1"))
        #expect(!FileManager.default.fileExists(atPath: serve.configuration + ".changes.json"))
        #expect(await serve.end() == 0)
        #expect(serve.complaints.contains(#""action":"try","camera":"yard-1","outcome":"done""#))
        #expect(!serve.complaints.contains("pa55word"))
    }

    @Test(
        "The history has frames, drops and states per stretch of time, without cameras that the token excludes"
    )
    func history() async throws {
        struct History: Decodable {
            struct Sample: Decodable {
                var time, state: String
                var seconds, frameRate: Double
                var dropped: Int
            }
            var interval: Double
            var samples: [Sample]
        }
        let serve = try await start()
        let before = try await serve.camera("door") { $0.captured > 20 }
        let (status, body) = try await serve.ask("GET", "/v1/cameras/door/history", token: ServeProcess.viewer)
        let history = try JSONDecoder().decode(History.self, from: body)
        #expect(status == 200 && history.interval == 10)
        #expect(history.samples.last?.state == "live" && history.samples.allSatisfy { $0.seconds > 0 })
        let frames = history.samples.map { $0.frameRate * $0.seconds }.reduce(0, +)
        #expect(frames.rounded() >= Double(before.captured))
        for path in ["/v1/cameras/door/history", "/v1/cameras/none/history"] {
            #expect(try await serve.ask("GET", path, token: Self.few).status == 404)
        }
        #expect(try await serve.ask("POST", "/v1/cameras/door/restart").status == 204)
        _ = try await serve.camera("door") { $0.captured > 2 }
        // The history continues after a restart.
        let after = try JSONDecoder().decode(
            History.self, from: try await serve.ask("GET", "/v1/cameras/door/history").body)
        #expect(after.samples.count >= history.samples.count && after.samples[0].time == history.samples[0].time)
        #expect(await serve.end() == 0)
    }

    @Test("Two sources are tried at a time; a client that disconnects makes room for another")
    func limit() async throws {
        let serve = try await start()
        let server = try HostileServer(.blackHole)
        let script = """
            try() { curl -s -m "$3" -o /dev/null -w '%{http_code}\\n' \\
                -H 'authorization: Bearer \(ServeProcess.admin)' \\
                -H 'content-type: application/json' -d "{\\"source\\": \\"$1\\"}" \(serve.address)/v1/try > "$2"; }
            hold() { while :; do try "$1" "$2" 60; done; }
            hold rtsp://127.0.0.1:\(server.port)/a a & a=$!
            hold rtsp://127.0.0.1:\(server.port)/b b & b=$!
            for i in {1..300}; do try '\(Self.pattern)' c 30; [ "$(cat c)" = 429 ] && break; done
            cat c
            for job in $a $b; do kill -STOP $job; kill -KILL $job $(pgrep -P $job); done; wait 2> /dev/null
            for i in {1..300}; do try '\(Self.pattern)' c 30; [ "$(cat c)" = 200 ] && break; done
            cat c
            """
        let output = try await ReferenceCommand.runAside(
            "bash", ["-c", "cd '\(serve.folder.path(""))' && \(script)"])
        #expect(String(decoding: output, as: UTF8.self) == "429\n200\n")
        #expect(try await serve.ask("GET", "/v1/cameras").status == 200)
        #expect(await serve.end() == 0)
    }
}
