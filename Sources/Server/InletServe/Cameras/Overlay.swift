package import InletCore
import InletOutput
import InletSystem

/// The file in which changes by the API persist: cameras in JSON, null for a removed one, and the names of paused
/// cameras. The configuration that a person writes is not changed.
///
/// There are two copies, each written as a whole and synced. One of them is enough to start.
package struct Overlay: Sendable {
    /// The path of the file.
    package let path: String
    /// The reason why the changes come from the second copy, or are missing; nil if the file was read.
    package private(set) var damage: ConfigurationProblem?
    /// The cameras that were set or removed.
    package private(set) var cameras: [String: JSONValue] = [:]
    /// The names of the cameras that are paused.
    package private(set) var paused: Set<String> = []

    /// Returns the default path of the file for a configuration.
    package static func path(beside configuration: String) -> String { configuration + ".changes.json" }

    /// Reads a file. If the file does not exist, there are no changes.
    ///
    /// - Throws: a problem if the file does not have the format that ``write()`` writes.
    package init(path: String) throws(ConfigurationProblem) {
        self.path = path
        (cameras, paused) = try Self.read(path) ?? ([:], [])
    }

    /// Reads a file, or its copy if the file is damaged. If both are damaged, there are no changes and ``damage``
    /// states the reason: a damaged file must not prevent cameras from starting.
    package init(recovering path: String) {
        self.path = path
        do throws(ConfigurationProblem) {
            (cameras, paused) = try Self.read(path) ?? ([:], [])
        } catch {
            damage = error
            if let kept = try? Self.read(Self.copyPath(of: path)) {
                damage?.message += " Its copy \(Self.copyPath(of: path)) is used."
                (cameras, paused) = kept
            } else {
                damage?.message += " The cameras run without the changes by the API."
            }
        }
    }

    /// Deletes incomplete files of processes that were killed during ``write()``. Waits for the disk.
    package func deleteLeftovers() {
        let slash = path.lastIndex(ofByte: "/")
        let folder = slash.map { String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        _ = StagedFile.deleteLeftovers(in: folder.isEmpty ? "/" : folder) {
            [name, Self.copyPath(of: name)].contains($0)
        }
    }

    private static func copyPath(of path: String) -> String { path + ".copy" }

    /// Returns the content of a file; nil if the file does not exist.
    private static func read(
        _ path: String
    ) throws(ConfigurationProblem) -> (cameras: [String: JSONValue], paused: Set<String>)? {
        let bytes: [UInt8]
        do throws(InletError) {
            bytes = try RegularFile.read(
                path, most: YAMLDocument.longest, content: "changes", advice: "Changes are kept in a JSON file.")
        } catch {
            if error.code == .notFound { return nil }
            throw ConfigurationProblem(error.message, at: .none)
        }
        do throws(InletError) {
            let content = try JSONReader.read(bytes)
            guard let members = content["cameras"]?.members else {
                throw InletError(.malformedData, "The key \"cameras\" is missing.")
            }
            let paused = content["paused"]?.elements?.compactMap(\.text) ?? []
            return (Dictionary(members.map { ($0.key, $0.value) }) { _, last in last }, Set(paused))
        } catch {
            throw ConfigurationProblem(
                "\(path): \(error.message) It was not written by inlet serve. Move it away.", at: .none)
        }
    }

    /// Sets a camera, or marks it as removed (null).
    package mutating func set(_ name: String, _ value: JSONValue) { cameras[name] = value }

    /// Removes the changes of a camera.
    package mutating func forget(_ name: String) { cameras[name] = nil }

    /// Sets whether a camera is paused.
    package mutating func setPaused(_ name: String, _ isPaused: Bool) {
        if isPaused { paused.insert(name) } else { paused.remove(name) }
    }

    /// The changes in the form that a configuration reader accepts.
    package var nodes: ConfigurationReader.Changes {
        cameras.mapValues { value -> ConfigurationNode? in
            if case .null = value.content { nil } else { ConfigurationNode(value) }
        }
    }

    /// Writes the file and its copy atomically: readers see either the old or the new file as a whole, even after a
    /// power cut. Only this user may read them, because URIs may contain passwords. A damaged file is preserved as
    /// `PATH.damaged`.
    ///
    /// - Throws: an error made of the `errno`; ``InletError/Code/resourceExhausted`` if the content is longer than
    ///   ``init(path:)`` can read.
    package mutating func write() throws(InletError) {
        let members = cameras.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        var content: [(String, JSONValue)] = [("cameras", .object(members))]
        if !paused.isEmpty { content.append(("paused", .list(paused.sorted().map { .text($0) }))) }
        let text = JSONValue.object(content).text(isIndented: true) + "\n"
        guard text.utf8.count <= YAMLDocument.longest else {
            throw InletError(
                .resourceExhausted,
                "All changes together exceed \(YAMLDocument.longest) bytes. Write cameras into the configuration.")
        }
        if damage != nil {
            StagedFile.setAside(path)
            damage = nil
        }
        for path in [path, Self.copyPath(of: path)] {
            try StagedFile.write(Array(text.utf8), to: path, mode: .owner, overwrites: true, isDurable: true)
        }
    }
}
