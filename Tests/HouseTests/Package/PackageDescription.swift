import Foundation

/// The targets of `Package.swift` with their dependencies, as `swift package describe` prints them.
struct PackageDescription: Decodable {
    struct Target: Decodable {
        var name: String
        var path: String
        /// The targets of this package that it names as dependencies.
        var targetDependencies: [String]?
        /// The products of other packages that it names as dependencies. Each has the name of its module.
        var productDependencies: [String]?

        var isPlugin: Bool { path.hasPrefix("Plugins/") }
    }

    /// The description cannot be used.
    struct Unusable: Error, CustomStringConvertible {
        var reason: String
        var description: String { "\(PackageDescription.path) \(reason). Run: \(PackageDescription.command)" }
    }

    var targets: [Target]

    static let path = ".build/package.json"
    /// Prints all dependencies. Without the trait, those that depend on it are left out.
    static let command = "swift package --traits GStreamer describe --type json > \(path)"

    /// Reads the description that `Scripts/test` writes. A test cannot run the command, because SwiftPM may be running.
    static func read(
        _ file: URL = HouseTree.root.appending(path: path),
        newerThan manifest: URL = HouseTree.root.appending(path: "Package.swift")
    ) throws -> PackageDescription {
        guard let data = try? Data(contentsOf: file) else { throw Unusable(reason: "does not exist") }
        guard try changed(file) >= changed(manifest) else {
            throw Unusable(reason: "is older than Package.swift")
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let package: PackageDescription
        do {
            package = try decoder.decode(PackageDescription.self, from: data)
        } catch {
            throw Unusable(reason: "is not a description of a package (\(error))")
        }
        guard package.targets.contains(where: { $0.targetDependencies?.contains("CGStreamer") == true }) else {
            throw Unusable(reason: "does not have the dependencies of the trait GStreamer")
        }
        return package
    }

    /// The target whose folder contains a file.
    func target(of file: HouseTree.File) -> Target? {
        var folder = file.path[...]
        while let end = folder.utf8.lastIndex(of: UInt8(ascii: "/")) {
            folder = folder[..<end]
            if let target = targets.first(where: { $0.path == folder }) { return target }
        }
        return nil
    }

    private static func changed(_ file: URL) throws -> Date {
        try file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate ?? .distantPast
    }
}
