import Foundation
import Testing

@Suite struct PackageDescriptionTests {
    /// Reads a description from a file that is this many seconds older than the manifest.
    private func read(_ text: String?, age: Double = -10) throws -> PackageDescription {
        let folder = FileManager.default.temporaryDirectory.appending(path: "inlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (file, manifest) = (folder.appending(path: "package.json"), folder.appending(path: "Package.swift"))
        try Data().write(to: manifest)
        if let text {
            try Data(text.utf8).write(to: file)
            let time = try #require(
                FileManager.default.attributesOfItem(atPath: manifest.path())[.modificationDate] as? Date)
            try FileManager.default.setAttributes(
                [.modificationDate: time.addingTimeInterval(-age)], ofItemAtPath: file.path())
        }
        return try PackageDescription.read(file, newerThan: manifest)
    }

    private let text = """
        {"targets": [{"name": "A", "path": "Sources/A", "type": "library", "target_dependencies": ["CGStreamer"]},
        {"name": "B", "path": "Sources/A/B", "product_dependencies": ["NIOCore"]}]}
        """

    @Test("A description has the targets with their dependencies, and the innermost folder decides for a file")
    func targets() throws {
        let package = try read(text)
        #expect(package.targets.map(\.name) == ["A", "B"])
        #expect(package.target(of: HouseTree.File(path: "Sources/A/A.swift", text: ""))?.name == "A")
        #expect(package.target(of: HouseTree.File(path: "Sources/A/B/C.swift", text: ""))?.name == "B")
        #expect(package.target(of: HouseTree.File(path: "Sources/AB/C.swift", text: "")) == nil)
    }

    @Test(
        "A description that is missing, old, damaged or made without the trait is refused with the command to run",
        arguments: [(nil, "does not exist"), ("", "is not a"), ("{\"targets\": []}", "the trait")])
    func unusable(text: String?, reason: String) {
        #expect {
            try read(text)
        } throws: { "\($0)".contains(reason) && "\($0)".hasSuffix("Run: \(PackageDescription.command)") }
        #expect {
            try read(self.text, age: 10)
        } throws: { "\($0)".contains("older than Package.swift") }
    }
}
