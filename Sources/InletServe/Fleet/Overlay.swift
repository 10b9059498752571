package import InletCore
import InletOutput
import InletSystem

/// The file in which changes by the API persist: cameras in JSON, null for one that was removed. The configuration that
/// a person writes stays as it is.
package struct Overlay: Sendable {
    /// The path of the file.
    package let path: String
    /// The cameras that were set or removed.
    package private(set) var cameras: [String: JSONValue] = [:]

    /// The place of the file for a configuration, unless another one is chosen.
    package static func path(beside configuration: String) -> String { configuration + ".changes.json" }

    /// Reads a file; there is nothing in it if there is none.
    ///
    /// - Throws: a problem if it is not what ``write()`` writes.
    package init(path: String) throws(ConfigurationProblem) {
        self.path = path
        let bytes: [UInt8]
        do throws(InletError) {
            bytes = try RegularFile.read(
                path, most: YAMLDocument.longest, content: "changes", advice: "Changes are kept in a file of JSON.")
        } catch {
            if error.code == .notFound { return }
            throw ConfigurationProblem(error.message, at: .none)
        }
        do throws(InletError) {
            guard let members = try JSONReader.read(bytes)["cameras"]?.members else {
                throw InletError(.malformedData, "There is no \"cameras\" in it.")
            }
            for member in members { cameras[member.key] = member.value }
        } catch {
            throw ConfigurationProblem(
                "\(path): \(error.message) It was not written by inlet serve; move it away.", at: .none)
        }
    }

    /// Sets a camera, or notes that it is removed (null).
    package mutating func set(_ name: String, _ value: JSONValue) { cameras[name] = value }

    /// Forgets what was changed of a camera.
    package mutating func forget(_ name: String) { cameras[name] = nil }

    /// What a reader of configurations takes.
    package var nodes: ConfigurationReader.Changes {
        cameras.mapValues { value -> ConfigurationNode? in
            if case .null = value.content { nil } else { ConfigurationNode(value) }
        }
    }

    /// Writes the file: readers see the former one or the new one whole. Only this user may read it, as addresses may
    /// hold passwords.
    ///
    /// - Throws: an error made of the `errno`; ``InletError/Code/resourceExhausted`` for more than ``init(path:)``
    ///   reads.
    package func write() throws(InletError) {
        let members = cameras.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let text = JSONValue.object([("cameras", .object(members))]).text(isIndented: true) + "\n"
        guard text.utf8.count <= YAMLDocument.longest else {
            throw InletError(
                .resourceExhausted,
                "All changes together may have \(YAMLDocument.longest) bytes. Write cameras into the configuration.")
        }
        try StagedFile.write(Array(text.utf8), to: path, mode: .owner, overwrites: true)
    }
}
