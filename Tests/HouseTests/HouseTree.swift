import Foundation

/// The files of the package, as the house rules see them.
enum HouseTree {
    /// A file and its text, with its path relative to the package's root.
    struct File: Sendable {
        var path: String
        var text: String
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every file below the folders (`.` for the whole package) whose name ends so, without build products.
    static func files(in folders: [String], withSuffix suffix: String) throws -> [File] {
        try files(in: folders) { $0.hasSuffix(suffix) }
    }

    /// Every file below the folders with one of the given names, without build products.
    static func files(in folders: [String], where isWanted: (String) -> Bool) throws -> [File] {
        var files: [File] = []
        for folder in folders {
            let base = root.appending(path: folder)
            guard let walk = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil) else { continue }
            for case let url as URL in walk {
                if url.lastPathComponent.hasPrefix(".") || url.lastPathComponent == "out" {
                    walk.skipDescendants()
                } else if try isWanted(url.lastPathComponent) && !isFolder(url) {
                    let path = url.standardizedFileURL.path().dropFirst(root.standardizedFileURL.path().count)
                    files.append(File(path: String(path), text: try String(contentsOf: url, encoding: .utf8)))
                }
            }
        }
        return files.sorted { $0.path < $1.path }
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path())
    }

    /// The names of the folders directly in a folder.
    static func folders(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            at: root.appending(path: folder), includingPropertiesForKeys: [.isDirectoryKey]
        )
        .filter(isFolder)
        .map(\.lastPathComponent)
        .filter { !$0.hasPrefix(".") }
        .sorted()
    }

    private static func isFolder(_ url: URL) throws -> Bool {
        try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
    }
}

/// A broken rule, as one line: the place, and the correction.
struct Violation: CustomStringConvertible, Equatable {
    var path: String
    var line: Int?
    var message: String

    var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(message)" }
}
