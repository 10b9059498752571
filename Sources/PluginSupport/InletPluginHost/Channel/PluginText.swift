import Glibc

// Unsafe: reads C strings of a plug-in.
/// Text that a plug-in passes.
enum PluginText {
    /// The longest text that is read.
    private static let limit = 4096

    /// Reads text up to its zero byte. Bytes that are not UTF-8 are replaced; a null pointer means no text.
    static func read(_ text: UnsafePointer<CChar>?) -> String {
        guard let text = unsafe text else { return "" }
        let count = unsafe strnlen(text, limit)
        let bytes = unsafe UnsafeRawBufferPointer(start: text, count: count)
        return unsafe String(decoding: bytes, as: UTF8.self)
    }
}
