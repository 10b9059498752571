import Foundation
import ReferenceTools
import Testing

/// The explanations of error codes: each code has one, and the troubleshooting guide is generated from them.
@Suite(.blocking) struct ErrorGuideTests {
    private static let path = "Docs/guide/trouble.md"
    private static let hint = "INLET_WRITE_GUIDE=1 swift test --filter ErrorGuideTests"
    /// The text after this line is generated; the text before it is written by hand.
    private static let mark = "<!-- From here on written by: \(hint) -->\n"

    private struct Explanation: Decodable {
        var code: String
        var meaning: String
        var causes: [String]
        var remedies: [String]
        var exitStatus: Int32
        var exitName: String
        var retry: String

        enum CodingKeys: String, CodingKey {
            case code, meaning, causes, remedies, retry
            case exitStatus = "exit_status"
            case exitName = "exit_name"
        }

        /// The section of the guide for a code.
        var section: String {
            let again =
                switch retry {
                case "always": "Inlet reopens a source with this error."
                case "once-live": "Inlet reopens a source with this error if it has worked before, or with --retry."
                case "rarely-once-live":
                    "Inlet reopens a source with this error, at growing intervals, if it has worked before."
                default: "Inlet does not reopen a source with this error."
                }
            let lists = [("Usual causes:", causes), ("Try this:", remedies)].map { title, lines in
                "\(title)\n\n" + lines.map { ErrorGuideTests.wrapped("- \($0)", indentation: "  ") }.joined()
            }
            return """
                ### \(code)

                \(ErrorGuideTests.wrapped(meaning))
                \(lists[0])
                \(lists[1])
                Exit status \(exitStatus) (\(exitName)). \(again)

                """
        }
    }

    /// Text wrapped at 120 columns, with a newline after the last line.
    private static func wrapped(_ text: String, indentation: String = "") -> String {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > 120 {
                lines.append(line)
                line = indentation + word
            } else {
                line += (line.isEmpty ? "" : " ") + word
            }
        }
        return (lines + [line]).joined(separator: "\n") + "\n"
    }

    private static func explanations() throws -> [Explanation] {
        try JSONDecoder().decode([Explanation].self, from: InletProcess.run(["explain", "--json"]).output)
    }

    @Test("Each error code of the core has its explanation, in the order of the declarations")
    func isComplete() throws {
        let core = FencedBlock.root.appending(path: "Sources/Core/InletCore/Errors/InletError.swift")
        let declared = try String(contentsOf: core, encoding: .utf8).matches(of: /= Code\("(\w+)"\)/)
            .map { String($0.output.1) }
        #expect(declared.count > 20)
        #expect(try Self.explanations().map(\.code).sorted() == declared.sorted())
    }

    @Test("The troubleshooting guide holds the output of inlet explain")
    func isWritten() throws {
        let file = FencedBlock.root.appending(path: Self.path)
        let actual = try String(contentsOf: file, encoding: .utf8)
        let manual = try #require(actual.range(of: Self.mark), "\(Self.path) has lost its mark: \(Self.mark)")
        let expected =
            actual[..<manual.upperBound] + "\n" + (try Self.explanations()).map(\.section).joined(separator: "\n")
        if ProcessInfo.processInfo.environment["INLET_WRITE_GUIDE"] != nil {
            try expected.write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(actual == expected, "\(Self.path) is not what inlet explain says: \(Self.hint)")
        }
    }

    @Test("A code is explained with its exit status, in upper or lower case")
    func one() throws {
        let inlet = try InletProcess.run(["explain", "timedout"])
        #expect(inlet.status == 0)
        let text = String(decoding: inlet.output, as: UTF8.self)
        #expect(text.hasPrefix("timedOut: A deadline passed.\n"), "\(text)")
        #expect(text.contains("Exit status 75 (temporary)."))
    }

    @Test("Without a code, each code is listed on one line")
    func list() throws {
        let text = String(decoding: try InletProcess.run(["explain"]).output, as: UTF8.self)
        #expect(text.split(separator: "\n").count == (try Self.explanations().count))
    }

    @Test("An unknown code is a usage error that suggests the nearest code")
    func unknown() throws {
        let inlet = try InletProcess.run(["explain", "timeout"])
        #expect(inlet.status == 64)
        #expect(inlet.complaints.contains("Did you mean 'timedOut'?"), "\(inlet.complaints)")
    }

    @Test("An error names its explanation, and the command exits with the status given there")
    func fromError() throws {
        let inlet = try InletProcess.run(["run", "/nonexistent.mp4"])
        let explained = try #require(try Self.explanations().first { $0.code == "notFound" })
        #expect(inlet.status == explained.exitStatus)
        #expect(inlet.complaints.contains("inlet explain notFound"), "\(inlet.complaints)")
        let mistyped = try InletProcess.run(["run", "pattern:smpte?sise=640x480"])
        #expect(!mistyped.complaints.contains("inlet explain"), "\(mistyped.complaints)")
    }
}
