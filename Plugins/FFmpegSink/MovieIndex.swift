import InletCore
import InletFFmpeg

// Unsafe: reads bytes that are about to be written.
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
    private var isPossible = true

    /// Takes the next bytes of the file.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard isPossible else { return }
        for box in unsafe scanner.scan(bytes) {
            switch box.kind {
            case .movie where movie == nil: movie = box
            case .movieFragment: isPossible = isPossible && add(box)
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

    /// More bytes than the index takes in the file.
    var fileByteCount: Int { table.isEmpty ? 0 : table.fileByteCount + (movie?.content.count ?? 0) + 1024 }

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
    ///   - date: when the first picture was taken, as text; nil if that is unknown.
    func change(ofFileWith byteCount: Int64, hasSetsInSamples: Bool, date: String?) -> Change? {
        guard isPossible, !table.isEmpty, let movie else { return nil }
        var content = Array(movie.content)
        if hasSetsInSamples, let (offset, name) = SampleEntry.change(in: content) {
            content.replaceSubrange(offset..<offset + name.count, with: name)
        }
        guard let box = MovieBox(content[...], table, date)?.bytes else { return nil }
        var header = BoxWriter()
        let size = byteCount - movie.offset
        header.append(UInt32(exactly: size) ?? 1)
        header.append(BoxKind("mdat").number)
        if size > UInt32.max { header.append(UInt64(size)) }
        return Change(box: box, header: header.bytes, place: movie.offset)
    }
}
