import InletCore

/// Keeps what a source knows about its packets, and a decoder does not, until their pictures are output.
struct PacketFacts {
    private let range: ColorRange?
    private let matrix: ColorMatrix?
    /// The capture times, by the ticks at which the picture is shown.
    private var captureTimes: [Int64: MonotonicTime] = [:]
    private var startsAnew = false

    /// More than any decoder holds back. A decoder may discard packets that it cannot use.
    private static let mostTimes = 64

    /// - Parameters:
    ///   - range: the range of all pictures, whatever they state; nil uses what they state.
    ///   - matrix: the matrix of all pictures, likewise.
    init(range: ColorRange?, matrix: ColorMatrix?) {
        self.range = range
        self.matrix = matrix
    }

    /// Notes a packet that is decoded, or may be.
    mutating func note(_ packet: SourcePacket) {
        if packet.flags.contains(.discontinuity) { startsAnew = true }
        guard let time = packet.captureTime, let pts = packet.pts?.ticks else { return }
        if captureTimes.count >= Self.mostTimes { captureTimes.removeAll(keepingCapacity: true) }
        captureTimes[pts] = time
    }

    /// Adds the known facts to a picture that is shown.
    mutating func complete(_ frame: inout SourceFrame) {
        if let pts = frame.pts?.ticks, let time = captureTimes.removeValue(forKey: pts) { frame.captureTime = time }
        if startsAnew {
            startsAnew = false
            frame.flags.insert(.discontinuity)
        }
        if let matrix { frame.colorSpace.matrix = matrix }
        guard let range else { return }
        frame.colorSpace.range = range
        // The name of such a format implies full range.
        if let format = Self.unnamedRange[frame.pixelFormat.name] { frame.pixelFormat = format }
    }

    private static let unnamedRange: [String: PixelFormat] = Dictionary(
        uniqueKeysWithValues: ["411p", "420p", "422p", "440p", "444p"].map { ("yuvj\($0)", PixelFormat("yuv\($0)")) })
}
