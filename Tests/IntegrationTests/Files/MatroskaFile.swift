import Foundation

/// A Matroska file (RFC 9559) of Motion JPEG with numbers that the test chooses: no muxer writes such files.
struct MatroskaFile {
    /// Nanoseconds per tick.
    var timestampScale: UInt64 = 1_000_000
    /// In ticks.
    var duration: Double?
    /// Nanoseconds per frame.
    var defaultDuration: UInt64?
    /// Cluster times in ticks: each cluster has one picture.
    var times: [UInt64] = [0, 40, 80]
    /// The picture's time, relative to that of the cluster.
    var blockTime: Int16 = 0
    /// In ticks.
    var blockDuration: UInt64?
    var width: UInt64 = 64
    var height: UInt64 = 48
    var displayWidth: UInt64?
    var displayHeight: UInt64?
    /// The JPEG that is used for every picture.
    var picture: Data

    var bytes: Data {
        let header = Self.element(0x1A45_DFA3, Self.element(0x4282, Data("matroska".utf8)))
        var info = Self.number(0x2AD7B1, timestampScale)
        if let duration { info += Self.element(0x4489, Self.bigEndian(duration.bitPattern, 8)) }
        var video = Self.number(0xB0, width) + Self.number(0xBA, height)
        if let displayWidth { video += Self.number(0x54B0, displayWidth) }
        if let displayHeight { video += Self.number(0x54BA, displayHeight) }
        var track = Self.number(0xD7, 1) + Self.number(0x73C5, 1) + Self.number(0x83, 1)
        if let defaultDuration { track += Self.number(0x23E383, defaultDuration) }
        track += Self.element(0x86, Data("V_MJPEG".utf8)) + Self.element(0xE0, video)
        var segment = Self.element(0x1549_A966, info) + Self.element(0x1654_AE6B, Self.element(0xAE, track))
        for time in times {
            let block = Data([0x81]) + Self.bigEndian(UInt64(UInt16(bitPattern: blockTime)), 2)
            var cluster = Self.number(0xE7, time)
            if let blockDuration {
                cluster += Self.element(
                    0xA0, Self.element(0xA1, block + Data([0]) + picture) + Self.number(0x9B, blockDuration))
            } else {
                cluster += Self.element(0xA3, block + Data([0x80]) + picture)
            }
            segment += Self.element(0x1F43_B675, cluster)
        }
        return header + Self.element(0x1853_8067, segment)
    }

    private static func bigEndian(_ number: UInt64, _ count: Int) -> Data {
        Data((0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) })
    }

    private static func number(_ id: UInt32, _ value: UInt64) -> Data { element(id, bigEndian(value, 8)) }

    private static func element(_ id: UInt32, _ content: Data) -> Data {
        let idBytes = bigEndian(UInt64(id), 4).drop { $0 == 0 }
        return idBytes + [0x01] + bigEndian(UInt64(content.count), 7) + content
    }
}
