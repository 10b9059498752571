/// A `moov` box with one track, built from the box for fragments and a table of the samples: ISO/IEC 14496-12, 8.2 to
/// 8.6.
struct MovieBox {
    private let table: SampleTable
    /// The movie's length in ticks, rounded up so that a player shows all of the last picture.
    private let duration: UInt32
    private let boxes: [(kind: BoxKind, content: ArraySlice<UInt8>)]
    private let date: String?

    /// - Parameters:
    ///   - content: the bytes of the box for fragments, after its header.
    ///   - date: the time when the first picture was taken, as text; nil if unknown.
    /// - Returns: nil if the box does not have libavformat's layout, or the movie's length does not fit into 32 bits.
    init?(_ content: ArraySlice<UInt8>, _ table: SampleTable, _ date: String?) {
        let boxes = BoxReader(content).boxes
        guard let header = boxes.first(where: { $0.kind == BoxKind("mvhd") }),
            let track = boxes.first(where: { $0.kind == BoxKind("trak") }),
            let trackHeader = BoxReader(track.content).boxes.first(where: { $0.kind == BoxKind("tkhd") }),
            let media = Self.descendant(of: track.content, BoxKind("mdia"), BoxKind("mdhd")),
            let movieScale = Self.scale(header.content), let mediaScale = Self.scale(media),
            Self.version(trackHeader.content) == 0
        else { return nil }
        var length = table.end
        if let list = Self.descendant(of: track.content, BoxKind("edts"), BoxKind("elst")) {
            guard let mediaTime = Self.mediaTime(list) else { return nil }
            length = table.end.subtractingReportingOverflow(mediaTime).partialValue
        }
        let (product, overflows) = length.multipliedReportingOverflow(by: movieScale)
        guard !overflows, product > 0, let duration = UInt32(exactly: (product - 1) / mediaScale + 1), duration < .max
        else { return nil }
        (self.table, self.duration, self.boxes, self.date) = (table, duration, boxes, date)
    }

    /// The box with its header.
    var bytes: [UInt8] {
        var writer = BoxWriter()
        writer.box(.movie) { movie in
            for (kind, content) in boxes {
                switch kind {
                case BoxKind("mvhd"): movie.append(kind, with(duration, at: 16, in: content))
                case BoxKind("trak"): movie.box(kind) { writeTrack(content, to: &$0) }
                case BoxKind("mvex"): break
                default: movie.append(kind, content)
                }
            }
            if let date { Self.writeCreationDate(date, to: &movie) }
        }
        return writer.bytes
    }

    // MARK: Reading

    private static func version(_ content: ArraySlice<UInt8>) -> UInt32 {
        var reader = BoxReader(content)
        return reader.word() >> 24
    }

    /// Reads the ticks per second from a movie's or media's header. Version 1 has 64-bit times, which libavformat does
    /// not need here.
    private static func scale(_ content: ArraySlice<UInt8>) -> Int64? {
        var reader = BoxReader(content)
        guard reader.word() >> 24 == 0 else { return nil }
        reader.skip(8)
        let scale = Int64(reader.word())
        return scale > 0 ? scale : nil
    }

    private static func descendant(
        of content: ArraySlice<UInt8>, _ parent: BoxKind, _ child: BoxKind
    ) -> ArraySlice<UInt8>? {
        BoxReader(content).boxes.first { $0.kind == parent }.flatMap { parent in
            BoxReader(parent.content).boxes.first { $0.kind == child }?.content
        }
    }

    /// Reads the start time from an edit list with one entry: ISO/IEC 14496-12, 8.6.6.
    private static func mediaTime(_ content: ArraySlice<UInt8>) -> Int64? {
        var reader = BoxReader(content)
        let isLong = reader.word() >> 24 == 1
        guard reader.word() == 1 else { return nil }
        reader.skip(isLong ? 8 : 4)
        let time = isLong ? Int64(bitPattern: reader.long()) : Int64(Int32(bitPattern: reader.word()))
        return reader.isShort || time < 0 ? nil : time
    }

    // MARK: Writing

    private func with(_ number: UInt32, at index: Int, in content: ArraySlice<UInt8>) -> [UInt8] {
        var writer = BoxWriter(content)
        writer.set(number, at: index)
        return writer.bytes
    }

    private func writeTrack(_ content: ArraySlice<UInt8>, to track: inout BoxWriter) {
        for (kind, content) in BoxReader(content).boxes {
            switch kind {
            case BoxKind("tkhd"): track.append(kind, with(duration, at: 20, in: content))
            case BoxKind("edts"):
                track.box(kind) { edit in
                    for (kind, content) in BoxReader(content).boxes {
                        var list = BoxWriter(content)
                        if Self.version(content) == 1 {
                            list.set(UInt64(duration), at: 8)
                        } else {
                            list.set(duration, at: 8)
                        }
                        edit.append(kind, list.bytes)
                    }
                }
            case BoxKind("mdia"): track.box(kind) { writeMedia(content, to: &$0) }
            default: track.append(kind, content)
            }
        }
    }

    private func writeMedia(_ content: ArraySlice<UInt8>, to media: inout BoxWriter) {
        for (kind, content) in BoxReader(content).boxes {
            switch kind {
            case BoxKind("mdhd"): media.append(kind, mediaHeader(content))
            // The information box, and the sample table in it.
            case BoxKind("minf"), BoxKind("stbl"): media.box(kind) { writeMedia(content, to: &$0) }
            case BoxKind("stsd"):
                media.append(kind, content)
                table.write(to: &media)
            case BoxKind("stts"), BoxKind("stsc"), BoxKind("stsz"), BoxKind("stco"): break
            default: media.append(kind, content)
            }
        }
    }

    /// Writes the media header with its duration, in version 1 if the duration does not fit into 32 bits: 13 hours in
    /// ticks of 1/90000 s.
    private func mediaHeader(_ content: ArraySlice<UInt8>) -> [UInt8] {
        if let duration = UInt32(exactly: table.duration), duration < .max {
            return with(duration, at: 16, in: content)
        }
        var reader = BoxReader(content)
        var writer = BoxWriter()
        writer.append(reader.word() | 1 << 24)
        for _ in 0..<2 { writer.append(UInt64(reader.word())) }
        writer.append(reader.word())
        reader.skip(4)
        writer.append(table.duration)
        writer.append(reader.bytes)
        return writer.bytes
    }

    /// Writes metadata with one entry, under QuickTime's key for the time of the first picture.
    private static func writeCreationDate(_ text: String, to movie: inout BoxWriter) {
        movie.box(BoxKind("meta")) { meta in
            meta.append(UInt32(0))
            meta.box(BoxKind("hdlr")) { handler in
                // The version and a zero word; after the handler type, 12 reserved bytes and an empty name.
                handler.append(UInt64(0))
                handler.append(BoxKind("mdta").number)
                handler.append([UInt8](repeating: 0, count: 13))
            }
            meta.box(BoxKind("keys")) { keys in
                keys.append(UInt32(0))
                keys.append(UInt32(1))
                keys.box(BoxKind("mdta")) { $0.append("com.apple.quicktime.creationdate".utf8) }
            }
            meta.box(BoxKind("ilst")) { values in
                // The type of a value is the number of its key.
                values.box(BoxKind(1)) { value in
                    value.box(BoxKind("data")) { data in
                        // Type 1 is UTF-8 text; no language.
                        data.append(UInt32(1))
                        data.append(UInt32(0))
                        data.append(text.utf8)
                    }
                }
            }
        }
    }
}
