import Foundation
import Inlet
import ReferenceTools
import Testing

/// The version that the command prints.
@Suite(.blocking) struct VersionTests {
    @Test("inlet --version prints only the version")
    func option() throws {
        let inlet = try InletProcess.run(["--version"])
        #expect(inlet.status == 0 && inlet.complaints.isEmpty)
        #expect(String(decoding: inlet.output, as: UTF8.self) == InletVersion.current + "\n")
    }

    @Test("The version is that of the newest section in the changelog")
    func changelog() throws {
        let file = BuiltProgram.package.appending(path: "CHANGELOG.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let newest = try #require(lines.first { $0.hasPrefix("## ") })
        let version = InletVersion.current
        #expect(newest == "## Unreleased" ? version.hasSuffix("-dev") : newest.hasPrefix("## [\(version)]"))
        #expect(version.wholeMatch(of: /\d+\.\d+\.\d+(-dev)?/) != nil)
    }
}
