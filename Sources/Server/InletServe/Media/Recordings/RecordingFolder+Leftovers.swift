import InletCore
import InletOutput
import InletSystem

/// Deletes files that a killed process leaves in the folder.
extension RecordingFolder {
    /// The size above which a recording certainly has a picture. The boxes before the first picture take about 1 kB.
    private static let largestLeftover = 65_536

    /// Deletes recordings without a picture and incomplete notes. Call it before any recording begins in this process.
    ///
    /// A recording is deleted if its file is missing, is empty, or ends before its first picture, and its note states
    /// no end. A recording with a part of a picture stays.
    ///
    /// - Returns: the names of the deleted files.
    /// - Throws: an error made of the `errno`.
    func deleteLeftovers() throws(InletError) -> [String] {
        var deleted = StagedFile.deleteLeftovers(in: path) { name in
            name.hasByteSuffix(Self.noteExtension) && fields(of: String(name.dropLast(Self.noteExtension.count))) != nil
        }
        for name in names.sorted() where isUnusable(name) {
            try delete(name)
            deleted.append(name)
        }
        if !deleted.isEmpty { try syncNames() }
        return deleted
    }

    private func isUnusable(_ name: String) -> Bool {
        let sizes = sizes(of: name)
        guard (sizes.recording ?? 0) <= Self.largestLeftover else { return false }
        // A file that people have added has no note. Nothing is lost if it is empty.
        guard sizes.note != nil else { return sizes.recording == 0 }
        // A note that cannot be read was written by others: notes are replaced as a whole.
        guard let note = note(of: name), note["length"]?.number == nil else { return false }
        guard let byteCount = sizes.recording, byteCount > 0 else { return true }
        let bytes = try? RegularFile.read(
            path(of: name), most: Self.largestLeftover, content: "a recording", advice: "It is not a recording.")
        return bytes.map { !Self.hasPicture($0[...]) } ?? false
    }

    /// Returns whether an MP4 file has a byte of a picture. Returns true for files that are not MP4.
    static func hasPicture(_ file: ArraySlice<UInt8>) -> Bool {
        var rest = file
        // Boxes: ISO/IEC 14496-12, 4.2. The last one may be cut off.
        while rest.count >= 8 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let kind = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            if kind == "mdat" { return rest.count > 8 }
            guard ["ftyp", "styp", "moov", "moof", "prft", "sidx", "free"].contains(kind), size >= 8 else {
                return true
            }
            rest = rest.dropFirst(size)
        }
        return false
    }
}
