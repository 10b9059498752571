/// Rules for names that signaling carries.
enum SignalingText {
    /// Whether a text has one to the given number of bytes, each a visible character of ASCII.
    static func isVisible(_ text: String, upTo most: Int) -> Bool {
        (1...most).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
