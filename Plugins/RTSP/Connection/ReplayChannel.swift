import InletCore

// Unsafe: reads into memory that the caller lends.
/// A connection of a capture. Sent bytes are dropped, because the responses are in the capture.
final class ReplayChannel: ByteChannel {
    private let replay: CaptureReplay
    /// The rest of bytes that were captured in one read and did not fit into another.
    private var rest: ArraySlice<UInt8> = []

    init(_ replay: CaptureReplay) { self.replay = replay }

    var descriptor: Int32 { -1 }
    var wantsOutput: Bool { false }
    var canSend: Bool { true }
    var hasBuffered: Bool { !rest.isEmpty || replay.hasMore }
    func flush() {}

    @unsafe func read(into target: UnsafeMutableRawBufferPointer) throws(InletError) -> ReadOutcome {
        if rest.isEmpty {
            guard let bytes = try replay.takeReceived() else { return .wouldBlock }
            guard !bytes.isEmpty else { return .ended }
            rest = bytes[...]
        }
        let count = min(rest.count, target.count)
        unsafe target.copyBytes(from: rest.prefix(count))
        rest = rest.dropFirst(count)
        return .bytes(count)
    }

    @unsafe func write(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.count }
}
