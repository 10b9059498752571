import Glibc

/// The kernel's lists of this process's resources.
enum ProcessFacts {
    /// Returns the kinds of this process's descriptors that plug-ins need.
    static func descriptors() -> [String] {
        let kinds = names(in: "/proc/self/fd").map { name in
            var bytes = [CChar](repeating: 0, count: 512)
            let count = unsafe readlink("/proc/self/fd/\(name)", &bytes, 511)
            return String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return kinds.filter { kind in ["socket:", "pipe:", "/memfd:", "anon_inode:"].contains { kind.hasPrefix($0) } }
    }

    /// Returns the number of this process's descriptors for the file at a path.
    static func descriptors(of path: String) -> Int {
        names(in: "/proc/self/fd").count { name in
            var bytes = [CChar](repeating: 0, count: 512)
            let count = unsafe readlink("/proc/self/fd/\(name)", &bytes, 511)
            return bytes.prefix(max(0, count)).elementsEqual(path.utf8.map { CChar(bitPattern: $0) })
        }
    }

    /// Returns the number of this process's shared memory maps for plug-ins.
    static func sharedMaps() -> Int { lines(of: "/proc/self/maps") { $0.contains("inlet-plugin") } }

    /// Returns the identifiers of this process's children, including ended ones.
    static func children() -> [Int32] {
        names(in: "/proc").compactMap { Int32($0) }.filter { number in
            let text = text(of: "/proc/\(number)/stat")
            guard let end = text.lastIndex(of: ")") else { return false }
            let fields = text[text.index(after: end)...].split(separator: " ")
            return fields.count > 1 && Int32(fields[1]) == getpid()
        }
    }

    private static func lines(of path: String, where isIn: (Substring) -> Bool) -> Int {
        text(of: path).split(separator: "\n").count(where: isIn)
    }

    private static func text(of path: String) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var text: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(file, &block, block.count)
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += block.prefix(count)
        }
    }

    private static func names(in path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
