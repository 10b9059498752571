import InletCore
import Testing

@testable import InletPluginLoader

@Suite struct PluginManifestTests {
    private func whole() throws -> PluginManifest {
        try PluginManifest(Array(ManifestText.whole.utf8), file: "/plugins/acme-camera.inlet.json")
    }

    @Test("Every key of a manifest is read")
    func everything() throws {
        let manifest = try whole()
        #expect(manifest.name == "acme-camera")
        #expect(manifest.version == "2.4.1")
        #expect(manifest.license == "LicenseRef-Acme OR MIT")
        #expect(manifest.summary == "Cameras of Acme.")
        #expect(manifest.code == .library("lib/acme.so"))
        #expect(manifest.sourceSchemes == ["acme", "acme+usb"])
        #expect(manifest.sinkSchemes == ["acme"])
        #expect(manifest.permissions.network && manifest.permissions.devices)
        #expect(manifest.permissions.files == ["/etc/acme"])
        #expect(manifest.memoryLimit == 512_000_000)
        let options = try #require(manifest.sources.first).options
        #expect(
            options.map(\.defaultValue) == [
                "1280x720", "30", "1.5", nil, "false", "1500000000ns", "day", "", nil, nil,
            ])
        #expect(
            options.map(\.type) == [
                .size, .rational, .number, .integer, .boolean, .duration, .choice, .text, .secret, .path,
            ])
    }

    @Test("The minimal manifest is sufficient, and permits nothing")
    func least() throws {
        let manifest = try PluginManifest(Array(ManifestText.least.utf8), file: "/plugins/bars.inlet.json")
        #expect(manifest.permissions == PluginPermissions())
        #expect(manifest.memoryLimit == nil)
        #expect(manifest.permissions.words.count == 1)
    }

    @Test("A listing describes its options like those of any plug-in")
    func info() throws {
        let manifest = try whole()
        let info = try #require(manifest.sources.first).info(name: manifest.name, summary: manifest.summary)
        let described = info.options.map {
            "\($0.name) \($0.type) [\($0.defaultValue)] \($0.range ?? "-") \($0.unit ?? "-")"
        }
        #expect(
            described == [
                "size WIDTHxHEIGHT [1280x720] 16x16 to 4096x2160 -",
                "rate NUMBER or NUMBER/NUMBER [30] 1 to 240 frames a second", "gain number [1.5] 0.0 to 24.0 dB",
                "lines integer [] -1 or more -", "flip true | false [false] - -",
                "wait TIME such as 5s or 200ms [1500ms] 60s or less -", "mode day | night [day] - -",
                "label text [] - -",
                "password text [] - -", "calibration text [] - -",
            ])
        #expect(info.options.map(\.kind).suffix(2) == [.secret, .file])
    }

    @Test("A value becomes the one form that a plug-in reads, or is refused")
    func canonical() throws {
        let options = try #require(try whole().sources.first).options
        func value(_ name: String, _ text: String) -> String? {
            options.first { $0.name == name }.flatMap { $0.canonical(text) }
        }
        #expect(value("size", "640X480") == "640x480")
        #expect(value("size", "8x480") == nil)
        #expect(value("size", "4096x2161") == nil)
        #expect(value("rate", "60000/2002") == "30000/1001")
        #expect(value("rate", "29.97") == "2997/100")
        #expect(value("rate", "1/2") == nil)
        #expect(value("gain", "1e1") == "10.0")
        #expect(value("gain", "nan") == nil)
        #expect(value("lines", "+7") == "7")
        #expect(value("lines", "-2") == nil)
        #expect(value("lines", "9223372036854775808") == nil)
        #expect(value("flip", "YES") == "true")
        #expect(value("wait", "250ms") == "250000000ns")
        #expect(value("wait", "61s") == nil)
        #expect(value("mode", "dusk") == nil)
        #expect(value("label", "a\0b") == nil)
        #expect(value("label", String(repeating: "x", count: 20_000)) == nil)
    }

    @Test("A command is read, and a program next to the manifest stays there")
    func command() throws {
        let text = ManifestText.least.replacing(
            "\"library\": \"bars.so\"", with: "\"command\": [\"python3\", \"bars.py\"]")
        let manifest = try PluginManifest(Array(text.utf8), file: "bars.inlet.json")
        #expect(manifest.code == .command(["python3", "bars.py"]))
        #expect(
            ManifestText.problems(replacing: "\"library\": \"bars.so\"", with: "\"command\": [\"../python3\"]").count
                == 1)
        #expect(ManifestText.problems(replacing: "\"library\": \"bars.so\"", with: "\"command\": []").count == 1)
    }

    /// Faults, and words of the expected problems.
    static let mistakes: [(part: String, other: String, words: [String])] = [
        ("\"inlet-plugin\": 1", "\"inlet-plugin\": 2", ["inlet-plugin", "newer"]),
        ("\"inlet-plugin\": 1", "\"inlet-plugin\": \"1\"", ["inlet-plugin", "write 1"]),
        ("\"inlet-plugin\": 1", "\"inlet-plugin\": 99999999999999999999", ["inlet-plugin", "write 1"]),
        ("\"inlet-plugin\": 1, ", "", ["inlet-plugin: it is missing"]),
        ("\"bars\",", "\"Bars\",", ["name", "lower-case"]),
        ("\"bars\",", "\"bars2\",", ["name", "bars.inlet.json", "name it bars2.inlet.json"]),
        ("\"version\"", "\"versoin\"", ["versoin: there is no such key", "write \"version\""]),
        ("\"1\"", "1", ["version: it is a number; write text"]),
        ("\"MIT\"", "\"free; really\"", ["license", "SPDX"]),
        ("\"Bars.\"", "\"\"", ["summary: it is empty"]),
        ("\"Bars.\"", "\"a\\u001b[2Jb\"", ["summary", "control"]),
        ("\"Bars.\"", "\"a\\u202eb\"", ["summary", "control"]),
        ("\"bars.so\"", "\"/usr/lib/bars.so\"", ["library", "relative"]),
        ("\"bars.so\"", "\"../bars.so\"", ["library", "relative"]),
        ("\"bars.so\"", "\"a/../../bars.so\"", ["library", "relative"]),
        ("\"bars.so\"", "\"a//bars.so\"", ["library", "relative"]),
        ("\"bars.so\"", "\"./bars.so\"", ["library", "relative"]),
        ("\"library\": \"bars.so\",", "", ["library: it is missing"]),
        ("\"bars.so\",", "\"bars.so\", \"command\": [\"x\"],", ["command", "leave one of them out"]),
        ("\"bars:\"}", "\"bars:\", \"takes\": \"packets\"}", ["sources[0].takes", "no such key"]),
        (
            "\"bars:\"}",
            "\"bars:\", \"options\": [{\"name\": \"a\", \"type\": \"text\", \"summary\": \"A\", \"access\": \"create\"}]}",
            ["sources[0].options[0].access", "names no file"]
        ),
        ("\"bars:\"}", "\"bars:\", \"sessions\": \"two\"}", ["sources[0].sessions", "\"one\""]),
        (
            "\"bars:\"}]", "\"bars:\"}], \"sinks\": [{\"schemes\": [\"b\"], \"usage\": \"b:\", \"takes\": \"all\"}]",
            ["sinks[0].takes", "\"packets\""]
        ),
        ("[\"bars\"]", "[]", ["sources[0].schemes: it is empty"]),
        ("[\"bars\"]", "[\"bars\", \"bars\"]", ["sources[0].schemes[1]", "twice"]),
        ("[\"bars\"]", "[\"b:\"]", ["sources[0].schemes[0]", "such as \"bars\""]),
        ("[\"bars\"]", "\"bars\"", ["sources[0].schemes: it is text; write a list"]),
        ("\"bars:\"}", "\"bars:\", \"examples\": [\"bras:\"]}", ["sources[0].examples[0]", "begin it with bars:"]),
        ("\"bars:\"}", "\"bars:\", \"examples\": [\"bars:?a=1\"]}", ["sources[0].examples[0]", "takes no options"]),
        ("\"bars:\"}]", "\"bars:\"}], \"permissions\": [\"root\"]", ["permissions[0]", "\"network\""]),
        ("\"bars:\"}]", "\"bars:\"}], \"permissions\": [\"files:/\"]", ["permissions[0]", "whole path"]),
        ("\"bars:\"}]", "\"bars:\"}], \"permissions\": [\"files:/a/../etc\"]", ["permissions[0]", "whole path"]),
        ("\"bars:\"}]", "\"bars:\"}], \"permissions\": [\"files:/dev/video0\"]", ["permissions[0]", "devices"]),
        ("\"bars:\"}]", "\"bars:\"}], \"permissions\": \"network\"", ["permissions", "list"]),
        ("\"bars:\"}]", "\"bars:\"}], \"memory\": \"1MB\"", ["memory", "out of range"]),
        ("\"bars:\"}]", "\"bars:\"}], \"memory\": \"9999999999GiB\"", ["memory", "not a size"]),
        ("\"bars:\"}]", "\"bars:\"}], \"memory\": 512", ["memory", "text"]),
        ("[{\"schemes\": [\"bars\"], \"usage\": \"bars:\"}]", "[]", ["neither a source nor a sink"]),
        ("[{\"schemes\": [\"bars\"], \"usage\": \"bars:\"}]", "[7]", ["sources[0]: it is a number; write an object"]),
    ]

    @Test("A mistake is reported with its line, its key and the correction", arguments: mistakes.indices)
    func mistake(_ index: Int) throws {
        let (part, other, words) = Self.mistakes[index]
        let text = ManifestText.least.replacing(part, with: other)
        try #require(text != ManifestText.least)
        let problems = ManifestText.problems(text)
        let problem = try #require(problems.first)
        #expect(problem.hasPrefix("line "))
        for word in words { #expect(problems.contains { $0.contains(word) }, "\(problems)") }
    }

    /// Faults of an option, and words of the expected problem.
    static let options: [(option: String, words: [String])] = [
        ("\"name\": \"a\", \"type\": \"colour\", \"summary\": \"A\"", ["type", "rational"]),
        ("\"name\": \"a\", \"type\": \"integer\"", ["options[0].summary: it is missing"]),
        ("\"name\": \"A\", \"type\": \"integer\", \"summary\": \"A\"", ["name", "lower-case"]),
        ("\"name\": \"a\", \"type\": \"integer\", \"summary\": \"A\", \"default\": 1.5", ["default", "whole number"]),
        (
            "\"name\": \"a\", \"type\": \"integer\", \"summary\": \"A\", \"default\": \"1\"",
            ["default", "whole number"]
        ),
        (
            "\"name\": \"a\", \"type\": \"integer\", \"summary\": \"A\", \"default\": 1e400",
            ["default", "whole number"]
        ),
        ("\"name\": \"a\", \"type\": \"number\", \"summary\": \"A\", \"default\": 1e400", ["default", "a number"]),
        (
            "\"name\": \"a\", \"type\": \"integer\", \"summary\": \"A\", \"default\": 900, \"maximum\": 100",
            ["default: 900 is out of range", "100 or less"]
        ),
        ("\"name\": \"a\", \"type\": \"integer\", \"summary\": \"A\", \"minimum\": 2, \"maximum\": 1", ["exchange"]),
        ("\"name\": \"a\", \"type\": \"text\", \"summary\": \"A\", \"minimum\": 2", ["minimum", "no order"]),
        ("\"name\": \"a\", \"type\": \"size\", \"summary\": \"A\", \"default\": \"0x0\"", ["default", "1280x720"]),
        ("\"name\": \"a\", \"type\": \"secret\", \"summary\": \"A\", \"default\": \"x\"", ["default", "no default"]),
        ("\"name\": \"a\", \"type\": \"choice\", \"summary\": \"A\"", ["choices: it is missing"]),
        (
            "\"name\": \"a\", \"type\": \"choice\", \"summary\": \"A\", \"choices\": [\"b\"], \"default\": \"c\"",
            ["default: c is out of range; write one of b"]
        ),
        (
            "\"name\": \"a\", \"type\": \"text\", \"summary\": \"A\", \"choices\": [\"b\"]",
            ["choices", "leave them out"]
        ),
        (
            "\"name\": \"a\", \"type\": \"secret\", \"summary\": \"A\"}, {\"name\": \"a-file\", \"type\": \"path\", \"summary\": \"B\"",
            ["a-file", "rename"]
        ),
        (
            "\"name\": \"a\", \"type\": \"text\", \"summary\": \"A\"}, {\"name\": \"a\", \"type\": \"path\", \"summary\": \"B\"",
            ["options[1].name", "twice"]
        ),
    ]

    @Test("A mistake in an option is reported", arguments: options.indices)
    func option(_ index: Int) {
        let problems = ManifestText.problems(option: Self.options[index].option)
        #expect(!problems.isEmpty)
        for word in Self.options[index].words { #expect(problems.contains { $0.contains(word) }, "\(problems)") }
    }

    @Test("All mistakes are reported at once, in an error that names the file")
    func all() throws {
        let text = ManifestText.least.replacing("\"MIT\"", with: "3").replacing("\"bars.so\"", with: "\"/bars.so\"")
        let error = #expect(throws: InletError.self) {
            try PluginManifest(Array(text.utf8), file: "/p/bars.inlet.json")
        }
        #expect(error?.code == .pluginRejected)
        for word in ["/p/bars.inlet.json", "license", "library"] {
            #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
        }
    }

    @Test("No text of a manifest with one byte changed, or cut anywhere, ends the process")
    func mutations() {
        let bytes = Array(ManifestText.whole.utf8)
        var random = SplitMix64(seed: 17)
        var refused = 0
        for round in 0..<4000 {
            var changed = bytes
            if round % 4 == 0 {
                changed.removeLast(Int.random(in: 1...bytes.count, using: &random))
            } else {
                changed[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if !PluginManifest.check(changed, file: "acme-camera.inlet.json").problems.isEmpty { refused += 1 }
        }
        #expect(refused > 1000)
    }
}
