import InletCore

/// A sum over all readable bytes of a frame's planes.
enum Checksum {
    static func of(_ frame: SourceFrame) -> UInt64 {
        var sum: UInt64 = 14_695_981_039_346_656_037
        for index in 0..<frame.planes.count {
            guard let plane = frame.planes[index] else { continue }
            let bytes = unsafe plane.bytesFromTop
            // Every 61st byte is sufficient, and costs the slow machine no time.
            for position in stride(from: 0, to: bytes.count, by: 61) {
                sum = unsafe (sum ^ UInt64(bytes[position])) &* 1_099_511_628_211
            }
        }
        return sum
    }
}
