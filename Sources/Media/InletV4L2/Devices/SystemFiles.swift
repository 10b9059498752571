import CV4L2
import Glibc
import InletCore

// Unsafe: reads small files, links and folders in `/sys` and `/proc`.
/// Reads small files, links and folders of the kernel: `/sys`, `/proc`, `/dev`. Reading them takes little time.
enum SystemFiles {
    /// Returns the text of a file without the final newline, or nil if it cannot be read. At most 4096 bytes.
    static func text(of path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { bytes in
            let count = unsafe read(descriptor, bytes.baseAddress, bytes.count)
            guard count >= 0 else { return nil }
            // Part of the text comes from the device.
            let text = unsafe String(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<count]), as: UTF8.self)
            return text.trimmed { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.sanitized(limit: 4096)
        }
    }

    /// Returns a link's literal target; nil if the path is not a link.
    static func target(of path: String) -> String? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { bytes in
            guard let base = bytes.baseAddress else { return nil }
            let count = unsafe readlink(path, base, bytes.count)
            guard count >= 0 else { return nil }
            return unsafe String(decoding: UnsafeRawBufferPointer(bytes)[..<count], as: UTF8.self)
        }
    }

    /// Returns the path with all links followed, or nil if nothing exists there.
    static func resolved(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// Returns the names in a folder, unordered; empty if it cannot be read.
    static func names(in folder: String) -> [String] {
        guard let handle = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(handle) }
        var names: [String] = []
        while let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// Returns the number of a node's character device in the form of `/sys`, such as `81:0`; nil if the path is not a
    /// node of one.
    static func deviceNumber(of node: String) -> String? {
        var facts = stat()
        guard unsafe stat(node, &facts) == 0, facts.st_mode & S_IFMT == S_IFCHR else { return nil }
        return "\(inlet_device_major(facts.st_rdev)):\(inlet_device_minor(facts.st_rdev))"
    }

    /// Returns whether anything exists at the path.
    static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}
