import Glibc
import InletCore
import Synchronization

// Unsafe: deletes files with `unlink`.
extension StagedFile {
    /// Deletes temporary files of processes that were killed while they wrote a file. Waits for the disk.
    ///
    /// - Parameters:
    ///   - folder: the folder, as in the paths that ``write(_:to:mode:overwrites:isDurable:)-(RawSpan,_,_,_,_)`` gets.
    ///   - isTarget: whether a name in the folder is one under which only Inlet writes files.
    /// - Returns: the names of the deleted files.
    package static func deleteLeftovers(in folder: String, of isTarget: (String) -> Bool) -> [String] {
        FileNamePattern.names(in: folder).filter { name in
            guard let (target, process) = parts(ofTemporary: name), isTarget(target) else { return false }
            let path = "\(folder)/\(name)"
            // Process numbers are used again: in a container, each run has the same one.
            let isOurs = process == getpid()
            guard isOurs ? !unfinished.withLock({ $0.contains(path) }) : kill(process, 0) != 0 && errno == ESRCH else {
                return false
            }
            return unsafe unlink(path) == 0
        }
    }

    /// Returns the final name of a temporary file, and the process that wrote it; nil for other names.
    private static func parts(ofTemporary name: String) -> (target: String, process: pid_t)? {
        let fields = Array(name.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard fields.count > 2, fields[fields.count - 1].elementsEqual("part".utf8) else { return nil }
        let writer = fields[fields.count - 2].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard writer.count == 2, let process = TextBytes.number(writer[0], upTo: Int(pid_t.max)), process > 0,
            TextBytes.number(writer[1], upTo: Int(UInt32.max)) != nil
        else { return nil }
        let target = Array(fields.dropLast(2).joined(separator: ".".utf8))
        return (String(decoding: target, as: UTF8.self), pid_t(process))
    }
}
