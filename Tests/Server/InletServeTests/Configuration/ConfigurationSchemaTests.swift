import Foundation
import InletServe
import ReferenceTools
import Testing

/// The configuration schema compared with the reader: another program judges the same texts.
@Suite(.tags(.python)) struct ConfigurationSchemaTests {
    private static let good = [
        "cameras:\n  door: rtsp://camera/main\n",
        "cameras: {}\n",
        "server:\ncameras:\n  a: pattern:smpte\n",
        "server: {listen: '127.0.0.1:80', streams: 4}\ncameras: {a: {source: 'pattern:smpte', sinks: ['null:x', {uri: 'null:?a', queue: latest}]}}\n",
        "defaults: {retry: 5, timeout: 2, give-up: 1h, outage: hold, queue: 'buffered:8', sink-retry: never, on-demand: 30s}\ncameras: {a: 'pattern:smpte'}\n",
        "defaults: {view: {max-size: 640x360, max-fps: 0.5, quality: 90}, on-demand: false, retry: }\ncameras: {a: 'pattern:smpte'}\n",
        "webhooks: {a: {url: 'https://h/x', kinds: [state], cameras: ['do*'], secret: {env: A}, timeout: 5s, "
            + "attempts: 3}, b: {url: {file: /u}, queue: 9, ca: /c}}\ncameras: {a: 'pattern:smpte'}\n",
        "budget: {memory: 4G}\ncameras: {a: 'pattern:smpte'}\n",
        "budget: {cores: 1.5}\ndefaults: {degrade: [rate, pause]}\n"
            + "cameras: {a: {source: 'pattern:smpte', priority: high, degrade: []}}\n",
        "budget: {cores: 2, memory: }\ncameras: {a: {source: 'pattern:smpte', priority: }}\n",
        "defaults: {process: own, memory: 512M}\ncameras: {a: {source: 'pattern:smpte', process: shared}}\n",
    ]

    private static let bad = [
        "{}", "- a\n", "cameras:\n", "camera: {a: 'pattern:smpte'}\n", "cameras: [a]\n",
        "cameras: {A: 'pattern:smpte'}\n",
        "cameras: {-a: 'pattern:smpte'}\n", "cameras: {a: {}}\n", "cameras: {a: {source: }}\n", "cameras: {a: [b]}\n",
        "cameras: {a: {source: 'pattern:smpte', retry: sometimes}}\n",
        "cameras: {a: {source: 'pattern:smpte', retry: -1}}\n",
        "cameras: {a: {source: 'pattern:smpte', sinks: 'null:x'}}\n",
        "cameras: {a: {source: 'pattern:smpte', sinks: [{ur: 'null:x'}]}}\n",
        "cameras: {a: {source: 'pattern:smpte', timeout: soon}}\n",
        "cameras: {a: {source: 'pattern:smpte', queue: fifo}}\n",
        "cameras: {a: {source: 'pattern:smpte', view: {max-size: big}}}\n",
        "budget: {memory: plenty}\ncameras: {a: 'pattern:smpte'}\n",
        "budget: {cores: many}\ncameras: {a: 'pattern:smpte'}\n",
        "budget: {cores: -1}\ncameras: {a: 'pattern:smpte'}\n", "budget: {cores: 3/2}\ncameras: {a: 'pattern:smpte'}\n",
        "cameras: {a: {source: 'pattern:smpte', priority: highest}}\n",
        "cameras: {a: {source: 'pattern:smpte', degrade: rate}}\n",
        "cameras: {a: {source: 'pattern:smpte', degrade: [frames]}}\n",
        "cameras: {a: {source: 'pattern:smpte', process: mine}}\n",
        "cameras: {a: {source: 'pattern:smpte', process: own, memory: much}}\n",
        "server: {prot: 80}\ncameras: {a: 'pattern:smpte'}\n",
        "server: {tokens: {me: {scope: root}}}\ncameras: {a: 'pattern:smpte'}\n",
        "webhooks: {a: 'https://h/x'}\ncameras: {a: 'pattern:smpte'}\n",
        "webhooks: {a: {url: 'https://h/x', secret: hush}}\ncameras: {a: 'pattern:smpte'}\n",
        "webhooks: {a: {url: 'https://h/x', kinds: [State]}}\ncameras: {a: 'pattern:smpte'}\n",
        "webhooks: {a: {url: 'https://h/x', kinds: [motoin]}}\ncameras: {a: 'pattern:smpte'}\n",
        "server: {tokens: {me: admin}}\ncameras: {a: 'pattern:smpte'}\n",
    ]

    /// Whether the reader accepts the structure of a text.
    private static func fits(_ text: String) throws -> Bool {
        guard let node = try YAMLDocument.read(Array(text.utf8)) else { return false }
        var problems: [ConfigurationProblem] = []
        ConfigurationShape.configuration.check(node, path: "", into: &problems)
        return problems.isEmpty
    }

    @Test("jsonschema accepts and rejects texts by the schema as the reader does")
    func judgement() async throws {
        let folder = try TemporaryFolder()
        let (schema, texts) = (folder.path("schema.json"), folder.path("texts.json"))
        try Data(ConfigurationSchema.text.utf8).write(to: URL(fileURLWithPath: schema))
        try JSONEncoder().encode(Self.good + Self.bad).write(to: URL(fileURLWithPath: texts))
        let output = try await ReferenceCommand.runAside(
            PeerProcess.python,
            ["-B", PeerProcess.path("schema-check.py"), schema, texts])
        let judged = try JSONDecoder().decode([Bool].self, from: output)
        #expect(judged == Self.good.map { _ in true } + Self.bad.map { _ in false })
        for (text, fits) in zip(Self.good + Self.bad, judged) { #expect(try Self.fits(text) == fits, "\(text)") }
    }
}
