/// The samples that a `moof` box with one track describes: ISO/IEC 14496-12, 8.8.
struct MovieFragment {
    struct Sample {
        var byteCount: UInt32
        /// The duration in ticks of the media, like all times.
        var duration: UInt32
        /// The composition time minus the decode time.
        var offset: Int32
        var isKey: Bool
    }

    /// Samples that are adjacent in the file.
    struct Run {
        /// The position of the first sample, relative to the box's header.
        var place: Int64
        var samples: [Sample]
    }

    /// The decode time of the first sample.
    private(set) var decodeTime: UInt64 = 0
    private(set) var runs: [Run] = []

    /// - Parameter content: the bytes of the box after its header.
    /// - Returns: nil if it cannot be read, or has several tracks.
    init?(_ content: ArraySlice<UInt8>) {
        let tracks = BoxReader(content).boxes.filter { $0.kind == BoxKind("traf") }
        guard tracks.count == 1 else { return nil }
        var defaults = Defaults()
        for part in BoxReader(tracks[0].content).boxes {
            var reader = BoxReader(part.content)
            switch part.kind {
            case BoxKind("tfhd"):
                guard let read = Defaults(&reader) else { return nil }
                defaults = read
            case BoxKind("tfdt"): decodeTime = reader.word() >> 24 == 0 ? UInt64(reader.word()) : reader.long()
            case BoxKind("trun"):
                guard let run = Self.run(&reader, defaults) else { return nil }
                runs.append(run)
            default: break
            }
            if reader.isShort { return nil }
        }
    }

    /// The default values for samples that state none: `tfhd`.
    private struct Defaults {
        var duration: UInt32 = 0
        var byteCount: UInt32 = 0
        var flags: UInt32 = 0

        init() {}

        /// - Returns: nil unless positions are relative to the fragment.
        init?(_ reader: inout BoxReader) {
            let present = reader.word()
            guard present & 0x2_0000 != 0, present & 0x01 == 0 else { return nil }
            reader.skip(present & 0x02 != 0 ? 8 : 4)
            if present & 0x08 != 0 { duration = reader.word() }
            if present & 0x10 != 0 { byteCount = reader.word() }
            if present & 0x20 != 0 { flags = reader.word() }
        }
    }

    private static func run(_ reader: inout BoxReader, _ defaults: Defaults) -> Run? {
        let header = reader.word()
        let count = reader.word()
        guard header & 0x01 != 0, count <= reader.bytes.count else { return nil }
        var run = Run(place: Int64(Int32(bitPattern: reader.word())), samples: [])
        let firstFlags = header & 0x04 != 0 ? reader.word() : nil
        for index in 0..<count where !reader.isShort {
            let duration = header & 0x100 != 0 ? reader.word() : defaults.duration
            let byteCount = header & 0x200 != 0 ? reader.word() : defaults.byteCount
            var flags = header & 0x400 != 0 ? reader.word() : defaults.flags
            if index == 0, let firstFlags { flags = firstFlags }
            let offset = header & 0x800 != 0 ? reader.word() : 0
            // Offsets of version 0 are unsigned.
            guard header >> 24 != 0 || offset <= UInt32(Int32.max) else { return nil }
            // The flag marks a sample that depends on others.
            run.samples.append(
                Sample(
                    byteCount: byteCount, duration: duration, offset: Int32(bitPattern: offset),
                    isKey: flags & 0x1_0000 == 0))
        }
        return reader.isShort ? nil : run
    }
}
