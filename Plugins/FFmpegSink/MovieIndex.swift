import InletCore
import InletFFmpeg
import InletOutput

/// The index with which a fragmented MP4 file becomes one without fragments when it is complete.
///
/// While a file is written, its fragments describe themselves, so that a file that was cut plays. The index, a second
/// `moov` box at the end, lists all samples: players then know the length, and seek, without reading the fragments. The
/// first `moov` box is turned into the header of a media data box that holds everything between the two. Built from the
/// bytes of the file as they are written.
struct MovieIndex {
    private var scanner = BoxScanner()
    /// The first `moov` box.
    private var movie: BoxScanner.Box?
    private var table = SampleTable()
    /// When a picture was taken, in nanoseconds since 1970, and its time in the file: the first such pair.
    private var reference: (taken: Int64, time: Int64)?
    private var isPossible = true

    /// Takes the next bytes of the file.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard isPossible else { return }
        for box in unsafe scanner.scan(bytes) {
            switch box.kind {
            case .movie where movie == nil: movie = box
            case .movieFragment: isPossible = isPossible && add(box)
            case .referenceTime where reference == nil: reference = Self.reference(box.content)
            default: break
            }
        }
        isPossible = isPossible && scanner.isIntact
        // A table that is not used takes no memory.
        if !isPossible { table = SampleTable() }
    }

    private mutating func add(_ box: BoxScanner.Box) -> Bool {
        guard let fragment = MovieFragment(box.content) else { return false }
        return table.add(fragment, at: box.offset)
    }

    /// Reads a `prft` box: ISO/IEC 14496-12, 8.16.5.
    private static func reference(_ content: ArraySlice<UInt8>) -> (taken: Int64, time: Int64)? {
        var reader = BoxReader(content)
        let version = reader.word() >> 24
        reader.skip(4)
        // RFC 5905, 6: seconds since 1900, and their binary fraction.
        let (seconds, fraction) = (Int64(reader.word()) - 2_208_988_800, UInt64(reader.word()))
        let time = version == 0 ? UInt64(reader.word()) : reader.long()
        guard !reader.isShort, let time = Int64(exactly: time) else { return nil }
        return (seconds * 1_000_000_000 + Int64(fraction * 1_000_000_000 >> 32), time)
    }

    /// The change that makes the file one without fragments.
    struct Change {
        /// The box to append to the file.
        var box: [UInt8]
        /// The bytes that replace the header of the first `moov` box afterwards, and their place.
        var header: [UInt8]
        var place: Int64
    }

    /// Returns the change; nil if the samples cannot be listed, or are too many.
    ///
    /// - Parameters:
    ///   - byteCount: the size of the file.
    ///   - hasSetsInSamples: whether parameter sets are in the samples.
    func change(ofFileWith byteCount: Int64, hasSetsInSamples: Bool) -> Change? {
        guard isPossible, !table.isEmpty, let movie else { return nil }
        var content = Array(movie.content)
        if hasSetsInSamples, let (offset, name) = SampleEntry.change(in: content) {
            content.replaceSubrange(offset..<offset + name.count, with: name)
        }
        guard let rewritten = MovieBox(content[...], table, reference)?.bytes else { return nil }
        var box = BoxWriter()
        box.append(.movie, rewritten)
        var header = BoxWriter()
        let size = byteCount - movie.offset
        header.append(UInt32(exactly: size) ?? 1)
        header.append(BoxKind("mdat").number)
        if size > UInt32.max { header.append(UInt64(size)) }
        return Change(box: box.bytes, header: header.bytes, place: movie.offset)
    }
}

/// A `moov` box with one track, made of one for fragments and a table of the samples.
private struct MovieBox {
    let bytes: [UInt8]

    /// The ticks per second of the movie's and of the media's times.
    private struct Scales {
        var movie: UInt32
        var media: UInt32
    }

    init?(_ content: ArraySlice<UInt8>, _ table: SampleTable, _ reference: (taken: Int64, time: Int64)?) {
        let boxes = BoxReader(content).boxes
        guard let header = boxes.first(where: { $0.kind == BoxKind("mvhd") }),
            let track = boxes.first(where: { $0.kind == BoxKind("trak") }),
            let media = Self.descendant(of: track.content, BoxKind("mdia"), BoxKind("mdhd")),
            let scales = Self.scales(header.content, media), scales.movie > 0, scales.media > 0
        else { return nil }
        var (length, shift) = (table.end, Int64(0))
        if let list = Self.descendant(of: track.content, BoxKind("edts"), BoxKind("elst")) {
            guard let edits = Self.edits(list) else { return nil }
            (length, shift) = (table.end - edits.mediaTime, edits.mediaTime)
        }
        let duration = Self.rescaled(length, from: scales.media, to: scales.movie)
        guard let duration = UInt32(exactly: duration), duration < .max else { return nil }
        var writer = BoxWriter()
        for (kind, content) in boxes {
            switch kind {
            case BoxKind("mvhd"): writer.append(kind, Self.with(duration, at: 16, in: content))
            case BoxKind("trak"):
                guard let track = Self.track(content, table, duration) else { return nil }
                writer.append(kind, track)
            case BoxKind("mvex"): break
            default: writer.append(kind, content)
            }
        }
        if let reference {
            let start = reference.taken - Self.rescaled(reference.time - shift, from: scales.media, to: 1_000_000_000)
            writer.append(BoxKind("meta"), Self.creationDate(CalendarTime(start, in: .utc).utcText))
        }
        bytes = writer.bytes
    }

    private static func scales(_ movie: ArraySlice<UInt8>, _ media: ArraySlice<UInt8>) -> Scales? {
        var (movie, media) = (BoxReader(movie), BoxReader(media))
        // Version 1 has times of 64 bits; libavformat uses it only for durations that are not known yet here.
        guard movie.word() >> 24 == 0, media.word() >> 24 == 0 else { return nil }
        movie.skip(8)
        media.skip(8)
        return Scales(movie: movie.word(), media: media.word())
    }

    private static func descendant(
        of content: ArraySlice<UInt8>, _ parent: BoxKind, _ child: BoxKind
    ) -> ArraySlice<UInt8>? {
        BoxReader(content).boxes.first { $0.kind == parent }.flatMap { parent in
            BoxReader(parent.content).boxes.first { $0.kind == child }?.content
        }
    }

    /// Reads an edit list with one entry: ISO/IEC 14496-12, 8.6.6.
    private static func edits(_ content: ArraySlice<UInt8>) -> (mediaTime: Int64, isLong: Bool)? {
        var reader = BoxReader(content)
        let isLong = reader.word() >> 24 == 1
        guard reader.word() == 1 else { return nil }
        reader.skip(isLong ? 8 : 4)
        let time = isLong ? Int64(bitPattern: reader.long()) : Int64(Int32(bitPattern: reader.word()))
        return reader.isShort || time < 0 ? nil : (time, isLong)
    }

    private static func rescaled(_ time: Int64, from old: UInt32, to new: UInt32) -> Int64 {
        let (product, overflows) = time.multipliedReportingOverflow(by: Int64(new))
        return overflows ? .max : product / Int64(old)
    }

    private static func with(_ number: UInt32, at index: Int, in content: ArraySlice<UInt8>) -> [UInt8] {
        var writer = BoxWriter(content)
        writer.set(number, at: index)
        return writer.bytes
    }

    private static func track(_ content: ArraySlice<UInt8>, _ table: SampleTable, _ duration: UInt32) -> [UInt8]? {
        var writer = BoxWriter()
        for (kind, content) in BoxReader(content).boxes {
            switch kind {
            case BoxKind("tkhd"): writer.append(kind, with(duration, at: 20, in: content))
            case BoxKind("edts"):
                guard let list = BoxReader(content).boxes.first, let edits = edits(list.content) else { return nil }
                var entry = BoxWriter(list.content)
                if edits.isLong { entry.set(UInt64(duration), at: 8) } else { entry.set(duration, at: 8) }
                var edit = BoxWriter()
                edit.append(list.kind, entry.bytes)
                writer.append(kind, edit.bytes)
            case BoxKind("mdia"): writer.append(kind, media(content, table))
            default: writer.append(kind, content)
            }
        }
        return writer.bytes
    }

    private static func media(_ content: ArraySlice<UInt8>, _ table: SampleTable) -> [UInt8] {
        var writer = BoxWriter()
        for (kind, content) in BoxReader(content).boxes {
            switch kind {
            case BoxKind("mdhd"): writer.append(kind, mediaHeader(content, table.duration))
            case BoxKind("minf"):
                var information = BoxWriter()
                for (kind, content) in BoxReader(content).boxes {
                    guard kind == BoxKind("stbl") else {
                        information.append(kind, content)
                        continue
                    }
                    var samples = BoxWriter()
                    for (kind, content) in BoxReader(content).boxes where kind == BoxKind("stsd") {
                        samples.append(kind, content)
                    }
                    samples.append(table.boxes)
                    information.append(kind, samples.bytes)
                }
                writer.append(kind, information.bytes)
            default: writer.append(kind, content)
            }
        }
        return writer.bytes
    }

    /// The media header with a duration, in version 1 if that takes more than 32 bits: 13 hours in ticks of 1/90000 s.
    private static func mediaHeader(_ content: ArraySlice<UInt8>, _ duration: Int64) -> [UInt8] {
        if let duration = UInt32(exactly: duration), duration < .max { return with(duration, at: 16, in: content) }
        var reader = BoxReader(content)
        var writer = BoxWriter()
        writer.append(reader.word() | 1 << 24)
        for _ in 0..<2 { writer.append(UInt64(reader.word())) }
        writer.append(reader.word())
        reader.skip(4)
        writer.append(duration)
        writer.append(reader.bytes)
        return writer.bytes
    }

    /// The content of a box of metadata with one entry, by QuickTime's key for the time of the first picture.
    private static func creationDate(_ text: String) -> [UInt8] {
        let key = Array("com.apple.quicktime.creationdate".utf8)
        var handler = BoxWriter()
        // The version, and a word that is 0, before the kind of handler; 12 reserved bytes and no name after it.
        handler.append(UInt64(0))
        handler.append(BoxKind("mdta").number)
        handler.append([UInt8](repeating: 0, count: 13))
        var keys = BoxWriter()
        keys.append(UInt32(0))
        keys.append(UInt32(1))
        keys.append(BoxKind("mdta"), key)
        // The type 1 is text in UTF-8; no language.
        var data = BoxWriter()
        data.append(UInt32(1))
        data.append(UInt32(0))
        data.append(text.utf8)
        var value = BoxWriter()
        value.append(BoxKind("data"), data.bytes)
        // Values have the number of their key as their kind.
        var values = BoxWriter()
        values.append(BoxKind(1), value.bytes)
        var meta = BoxWriter()
        meta.append(UInt32(0))
        meta.append(BoxKind("hdlr"), handler.bytes)
        meta.append(BoxKind("keys"), keys.bytes)
        meta.append(BoxKind("ilst"), values.bytes)
        return meta.bytes
    }
}
