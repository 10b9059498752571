import InletCore
import InletFFmpeg

// Unsafe: reads bytes that are about to be written.
/// The index that turns a complete fragmented MP4 file into one without fragments.
///
/// While a file is being written, its fragments describe themselves, so that a truncated file plays. The index, a
/// second `moov` box at the end, lists all samples: with it, players know the length and seek without reading the
/// fragments. The header of the first `moov` box is overwritten with that of a media data box that covers everything
/// between the two. The index is built from the bytes of the file as they are written.
struct MovieIndex {
    private var scanner = BoxScanner()
    /// The first `moov` box.
    private var movie: BoxScanner.Box?
    private var table = SampleTable()
    private var isPossible = true

    /// Processes the next bytes of the file.
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
        // Frees the memory of a table that will not be used.
        if !isPossible { table = SampleTable() }
    }

    private mutating func add(_ box: BoxScanner.Box) -> Bool {
        guard let fragment = MovieFragment(box.content) else { return false }
        return table.add(fragment, at: box.offset)
    }

    /// An upper limit for the bytes that the index takes in the file.
    var fileByteCount: Int { table.isEmpty ? 0 : table.fileByteCount + (movie?.content.count ?? 0) + 1024 }

    /// The change that removes the fragments from the file.
    struct Change {
        /// The box to append to the file.
        var box: [UInt8]
        /// The bytes that then replace the header of the first `moov` box, and their position.
        var header: [UInt8]
        var place: Int64
    }

    /// Returns the change; nil if the samples cannot be listed or are too many.
    ///
    /// - Parameters:
    ///   - byteCount: the size of the file.
    ///   - hasSetsInSamples: whether parameter sets are in the samples.
    ///   - date: the time when the first picture was taken, as text; nil if unknown.
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
