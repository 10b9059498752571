import Glibc

// Unsafe: reads the text of `strerror`.
/// The system's text of an `errno`.
package enum SystemErrorText {
    /// Returns the text, such as "No space left on device".
    package static func of(_ number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }
}
