import CAVFilter
import InletCore
import InletFFmpeg

// Unsafe: passes names of filters to libavfilter.
/// A ``PictureFilter`` by libavfilter.
final class FFmpegPictureFilter: PictureFilter {
    private let filters: PictureFilters
    private let text: String
    private var line: FilterLine?
    /// The shape of the pictures that the line was made for.
    private var shape: FilterInput.Shape?
    /// The numbers of the two pictures that the line got last, of which the second has not come out.
    private var sent: (before: UInt64?, last: UInt64)?

    /// libavfilter's names of the filters, in the order in which they are applied.
    private static let table: [(filter: PictureFilters, names: [String], text: String)] = [
        // Every picture that it gets: those that are not interlaced are neighbours, which only pass through.
        (.deinterlacing, ["bwdif"], "bwdif=mode=send_frame:parity=auto:deint=all")
    ]

    /// - Throws: ``InletError/Code/unsupported`` if libavfilter is missing or lacks a filter.
    init(_ filters: PictureFilters) throws(InletError) {
        FFmpegLogging.install()
        guard inlet_avfilter_load() else {
            throw InletError(
                .unsupported, "There is no libavfilter to filter pictures with. Install the package libavfilter8.")
        }
        let wanted = Self.table.filter { filters.contains($0.filter) }
        for name in wanted.flatMap(\.names) where unsafe !inlet_avfilter_has(name) {
            throw InletError(
                .unsupported, "The installed libavfilter has no filter \(name). Try a fuller build of FFmpeg.")
        }
        self.filters = filters
        text = wanted.map(\.text).joined(separator: ",")
    }

    func filtered(_ picture: SourceFrame, previous: SourceFrame?, next: SourceFrame?) throws -> SourceFrame {
        do throws(InletError) {
            return result(try pass(picture, previous: previous, next: next), of: picture)
        } catch {
            forget()
            var error = error
            error.context.sequence = error.context.sequence ?? picture.sequence
            throw error
        }
    }

    /// Returns the picture as it comes out of the line: when the one after it has been put in.
    private func pass(
        _ picture: SourceFrame, previous: SourceFrame?, next: SourceFrame?
    ) throws(InletError) -> FFmpegFrame {
        let shape = FilterInput.Shape(picture)
        let next = next.flatMap { FilterInput.Shape($0) == shape ? $0 : nil }
        let previous = previous.flatMap { FilterInput.Shape($0) == shape ? $0 : nil }
        let continues = self.shape == shape && sent.map { $0 == (previous?.sequence, picture.sequence) } ?? false
        let line: FilterLine
        if continues, let current = self.line {
            line = current
        } else {
            forget()
            let input = try FilterInput(picture)
            line = try FilterLine(text, for: input)
            if let previous { try line.send(FilterInput(previous)) }
            try line.send(input)
            // That of the previous picture, which was wanted before or never.
            if previous != nil { _ = try line.receive() }
        }
        if let next {
            try line.send(FilterInput(next))
            (self.line, self.shape, sent) = (line, shape, (picture.sequence, next.sequence))
        } else {
            forget()
            // Of a single picture the second copy is thrown away: the first comes out as one at the beginning does, by
            // its own lines only.
            if previous == nil { try line.send(FilterInput(picture)) } else { try line.sendEnd() }
        }
        return try line.receive()
    }

    /// Releases the line, with the pictures that it holds.
    private func forget() { (line, shape, sent) = (nil, nil, nil) }

    private func result(_ frame: FFmpegFrame, of picture: SourceFrame) -> SourceFrame {
        var result = picture
        result.pixelFormat = PixelFormat(frame.nativePixelFormat) ?? picture.pixelFormat
        (result.size, result.planes, result.owner) = (frame.size, frame.planes(), frame)
        if filters.contains(.deinterlacing) { result.fieldOrder = .progressive }
        return result
    }
}
