import Foundation
import ReferenceTools

/// An example of a document: the lines between two fences of backquotes.
struct FencedBlock {
    /// The document's path, relative to the package's root.
    var path: String
    /// `swift`, `sh` or empty.
    var language: String
    /// The example's number among those of its language in the document, from 1.
    var number: Int
    /// The text without the indentation of the fence.
    var lines: [String]

    static let root = BuiltProgram.package

    /// The examples in user documents: those at the root, in `Docs` and in the plug-ins' folders.
    static func all() throws -> [FencedBlock] {
        var paths = try FileManager.default.contentsOfDirectory(atPath: root.path)
        for folder in ["Docs", "Plugins"] {
            paths += try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path).map {
                "\(folder)/\($0)"
            }
        }
        return try paths.filter { $0.hasSuffix(".md") }.sorted().flatMap { path in
            blocks(in: try String(contentsOf: root.appending(path: path), encoding: .utf8), of: path)
        }
    }

    static func blocks(in text: String, of path: String) -> [FencedBlock] {
        var blocks: [FencedBlock] = []
        var open: (block: FencedBlock, indentation: Int)?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let trimmed = line.drop { $0 == " " }
            if let (block, indentation) = open {
                if trimmed.hasPrefix("```") {
                    blocks.append(block)
                    open = nil
                } else {
                    let shown = line.dropFirst(min(indentation, line.count - trimmed.count))
                    open?.block.lines.append(String(shown))
                }
            } else if trimmed.hasPrefix("```") {
                let language = String(trimmed.dropFirst(3))
                let number = 1 + blocks.count { $0.language == language }
                open = (
                    FencedBlock(path: path, language: language, number: number, lines: []), line.count - trimmed.count
                )
            }
        }
        return blocks
    }
}
