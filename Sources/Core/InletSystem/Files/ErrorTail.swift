import InletCore

/// The last lines of a program's standard error, for the error that reports its end.
package struct ErrorTail: Sendable {
    private static let maximumLines = 4
    private static let maximumLineBytes = 300

    private var lines: [[UInt8]] = []
    private var line: [UInt8] = []

    /// Creates a tail without lines.
    package init() {}

    /// Adds output of the program. A carriage return ends a line, too: progress lines overwrite each other that way.
    package mutating func append(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                endLine()
            } else if line.count < Self.maximumLineBytes {
                line.append(byte)
            }
        }
    }

    private mutating func endLine() {
        defer { line.removeAll(keepingCapacity: true) }
        guard line.contains(where: { $0 > UInt8(ascii: " ") }) else { return }
        lines.append(line)
        if lines.count > Self.maximumLines { lines.removeFirst() }
    }

    /// The lines, joined by slashes, without credentials and control characters; nil without lines.
    package var text: String? {
        let all = (line.isEmpty ? lines : (lines + [line]).suffix(Self.maximumLines)).map { line in
            // Terminal colours are common in them, and not worth escaping.
            let plain = line.filter { $0 >= UInt8(ascii: " ") && $0 != 0x7f }
            return Redaction.redact(String(decoding: plain, as: UTF8.self)).sanitized()
        }
        return all.isEmpty ? nil : all.joined(separator: " / ")
    }
}
