import InletCore

// Unsafe: reads C strings of a plug-in.
/// Text that a plug-in in this process passes.
enum CText {
    /// Returns the text, without credentials and control characters and cut at 1024 bytes; empty for a null pointer.
    static func read(_ text: UnsafePointer<CChar>?) -> String {
        unsafe Redaction.redact(name(text)).sanitized()
    }

    /// Returns the unchanged text, for names; bytes that are not UTF-8 are replaced.
    static func name(_ text: UnsafePointer<CChar>?) -> String {
        guard let text = unsafe text else { return "" }
        var bytes: [UInt8] = []
        for index in 0..<1024 {
            let byte = unsafe text[index]
            guard byte != 0 else { break }
            bytes.append(UInt8(bitPattern: byte))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
