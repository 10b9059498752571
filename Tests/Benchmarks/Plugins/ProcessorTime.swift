import Glibc

/// The processor time used by this process and its children.
enum ProcessorTime {
    /// Returns seconds. Children that have ended don't count.
    static func now() -> Double { ([getpid()] + children()).reduce(0) { $0 + time(of: $1) } }

    private static func time(of process: pid_t) -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard unsafe clock_getcpuclockid(process, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else {
            return 0
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func children() -> [pid_t] {
        guard let folder = unsafe opendir("/proc") else { return [] }
        defer { unsafe closedir(folder) }
        var found: [pid_t] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let number = pid_t(name), parent(of: number) == getpid() { found.append(number) }
        }
        return found
    }

    private static func parent(of process: pid_t) -> pid_t? {
        let file = unsafe open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = unsafe read(file, &bytes, bytes.count)
        // The program's name is in parentheses, and may contain parentheses.
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        return fields.count > 1 ? pid_t(fields[1]) : nil
    }
}
