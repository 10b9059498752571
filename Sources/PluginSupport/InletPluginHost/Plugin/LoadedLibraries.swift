import Glibc
import InletCore

// Unsafe: reads a file in `/proc`.
/// The libraries that are mapped into this process.
enum LoadedLibraries {
    /// Returns the folders of those outside of `/usr` and `/lib`; empty if the system does not report them.
    static func folders() -> [String] {
        let file = unsafe open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var text: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65536)
        while text.count < 1 << 20 {
            let count = unsafe read(file, &block, block.count)
            guard count > 0 else { break }
            text += block[..<count]
        }
        var folders: Set<String> = []
        for line in text.split(separator: 0x0A) {
            // The path is the line's last column, and the first with a slash.
            guard let start = line.firstIndex(of: UInt8(ascii: "/")),
                let path = String(validating: line[start...], as: UTF8.self), path.containsBytes(".so"),
                !path.hasBytePrefix("/usr/"), !path.hasBytePrefix("/lib"), let slash = path.lastIndex(ofByte: "/")
            else { continue }
            folders.insert(String(path[..<slash]))
        }
        return folders.sorted()
    }
}
