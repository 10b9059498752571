import Testing

/// A session description that a device sent, and the values that the parser must find in it.
struct SDPCamera: Sendable, CustomTestStringConvertible {
    var name: String
    /// Kinds and payload types of all media.
    var media: String
    var payloadType: UInt8?
    /// The format's name in upper case; empty if it is not stated.
    var encoding = ""
    var clockRate = 90_000
    var control: String?
    /// The bytes of each parameter set.
    var sizes: [Int] = []
    var text: String

    var testDescription: String { name }
}
