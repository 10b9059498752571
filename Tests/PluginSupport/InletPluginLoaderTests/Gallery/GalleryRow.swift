import Foundation
import InletCore
import ReferenceTools

/// A row of the tables in `Tests/TestPlugins/Gallery/README.md`: the fault of a bad plug-in, and the required end of
/// its run.
struct GalleryRow: Sendable {
    /// The place of a plug-in's fault.
    enum Place: String {
        /// When it is loaded, created or opened.
        case open
        /// When a picture is read, after three good ones.
        case next
        case pause
        case close
    }

    var name: String
    var place: Place
    /// The code of the error, or `none` or `any`.
    var code: String
    /// Words that the error's message contains; empty for any message.
    var words: String

    /// Whether a run with the plug-in ends only after one of Inlet's time-outs.
    var waitsForTimeout: Bool { code == "timedOut" || code == "any" }

    /// The folder of the bad plug-ins.
    static let folder = BuiltProgram.package.appending(path: "Tests/TestPlugins/Gallery")

    /// Reads the rows of all tables.
    ///
    /// - Throws: ``Malformed`` for a row that doesn't have five columns of known words.
    static func all() throws -> [GalleryRow] {
        let text = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
        return try text.split(separator: "\n").filter { $0.hasPrefix("|") }.compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5 else { throw Malformed(line: String(line)) }
            if cells[0] == "plug-in" || cells[0].allSatisfy({ $0 == "-" }) { return nil }
            guard let place = Place(rawValue: cells[2]), !cells[3].isEmpty else { throw Malformed(line: String(line)) }
            return GalleryRow(name: cells[0], place: place, code: cells[3], words: cells[4])
        }
    }

    /// Returns the names of all plug-ins with source code in the folder.
    static func sources() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".c") }
            .map { String($0.dropLast(2)) }
    }

    /// An unreadable row.
    struct Malformed: Error {
        var line: String
    }
}
