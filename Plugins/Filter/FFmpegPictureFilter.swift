import CAVFilter
import InletCore
import InletFFmpeg

// Unsafe: passes names of filters to libavfilter.
/// A ``PictureFilter`` by libavfilter.
final class FFmpegPictureFilter: PictureFilter {
    private let filters: PictureFilters
    private var line: FilterLine?
    /// The properties of the pictures for which the line was built.
    private var kind: Kind?
    /// The numbers of the last two pictures sent to the line. The second has not come out yet.
    private var sent: (before: UInt64?, last: UInt64)?

    /// The peak luminance of a picture that states none, in candela per square metre: that of a reference display for
    /// HLG, and of common displays for PQ.
    private static let usualPeak = 1000.0
    /// The luminance of white after tone mapping, in candela per square metre.
    private static let white = 100.0
    /// The properties that the pictures of one line share.
    private struct Kind: Equatable {
        var shape: FilterInput.Shape
        var peak: Double
    }

    /// libavfilter's names of the filters.
    private static let names: [(filter: PictureFilters, names: [String])] = [
        (.deinterlacing, ["bwdif"]), (.toneMapping, ["zscale", "tonemap"]),
    ]

    /// - Throws: ``InletError/Code/unsupported`` if libavfilter is missing or lacks a filter.
    init(_ filters: PictureFilters) throws(InletError) {
        FFmpegLogging.install()
        guard inlet_avfilter_load() else {
            throw InletError(
                .unsupported, "Cannot filter pictures: libavfilter is not installed. Install the package libavfilter8.")
        }
        let wanted = Self.names.filter { filters.contains($0.filter) }
        for name in wanted.flatMap(\.names) where unsafe !inlet_avfilter_has(name) {
            throw InletError(
                .unsupported, "The installed libavfilter has no filter \(name). Try a fuller build of FFmpeg.")
        }
        self.filters = filters
    }

    /// Returns the filters in the order in which they are applied, in the syntax of ffmpeg's option `-vf`.
    private func text(_ kind: Kind) -> String {
        var steps: [String] = []
        if filters.contains(.deinterlacing) {
            // bwdif filters every picture, because one that is not interlaced may be the neighbour of one that is. The
            // results for pictures that are not interlaced are not used.
            steps.append("bwdif=mode=send_frame:parity=auto:deint=all")
        }
        if filters.contains(.toneMapping) {
            // zimg rejects odd sizes if chroma is subsampled.
            let (size, pixelFormat) = (kind.shape.size, kind.shape.pixelFormat)
            let isOdd = !size.width.isMultiple(of: 2) || !size.height.isMultiple(of: 2)
            if isOdd, FilterInput.halvesChroma(pixelFormat) { steps.append("format=yuv444p12le") }
            steps += [
                "zscale=transfer=linear:npl=\(Int(Self.white))", "format=gbrpf32le", "zscale=primaries=bt709",
                "tonemap=tonemap=hable:desat=0:peak=\(kind.peak / Self.white)",
                "zscale=transfer=bt709:matrix=bt709:range=limited", "format=\(isOdd ? "yuv444p" : "yuv420p")",
            ]
        }
        return steps.joined(separator: ",")
    }

    func filtered(_ picture: SourceFrame, previous: SourceFrame?, next: SourceFrame?) throws -> SourceFrame {
        do throws(InletError) {
            let made =
                filters.contains(.deinterlacing)
                ? try pass(picture, previous: previous, next: next) : try pass(picture)
            return result(made, of: picture)
        } catch {
            forget()
            var error = error
            error.context.sequence = error.context.sequence ?? picture.sequence
            throw error
        }
    }

    /// Returns the properties of a picture, including the peak luminance that it states.
    private func kind(of picture: SourceFrame) -> Kind {
        let stated = (picture.owner as? FFmpegFrame)?.peakLuminance.flatMap { $0 >= Self.white ? $0 : nil }
        // HLG values are relative to the display.
        let isAbsolute = filters.contains(.toneMapping) && picture.colorSpace.transfer != .hlg
        return Kind(shape: FilterInput.Shape(picture), peak: isAbsolute ? stated ?? Self.usualPeak : Self.usualPeak)
    }

    /// Sends a picture and returns the result, which is available at once.
    private func pass(_ picture: SourceFrame) throws(InletError) -> FFmpegFrame {
        let kind = kind(of: picture)
        let input = try FilterInput(picture)
        let line = if let line, self.kind == kind { line } else { try FilterLine(text(kind), for: input) }
        (self.line, self.kind) = (line, kind)
        try line.send(input)
        return try line.receive()
    }

    /// Sends a picture and returns the result, which comes out of the line only after the next picture was sent.
    private func pass(
        _ picture: SourceFrame, previous: SourceFrame?, next: SourceFrame?
    ) throws(InletError) -> FFmpegFrame {
        let kind = kind(of: picture)
        let next = next.flatMap { FilterInput.Shape($0) == kind.shape ? $0 : nil }
        let previous = previous.flatMap { FilterInput.Shape($0) == kind.shape ? $0 : nil }
        let continues = self.kind == kind && sent.map { $0 == (previous?.sequence, picture.sequence) } ?? false
        let line: FilterLine
        if continues, let current = self.line {
            line = current
        } else {
            forget()
            let input = try FilterInput(picture)
            line = try FilterLine(text(kind), for: input)
            if let previous { try line.send(FilterInput(previous)) }
            try line.send(input)
            // The result for the previous picture is not needed.
            if previous != nil { _ = try line.receive() }
        }
        if let next {
            try line.send(FilterInput(next))
            (self.line, self.kind, sent) = (line, kind, (picture.sequence, next.sequence))
        } else {
            forget()
            // A single picture is sent twice. The first copy comes out like the first picture of a stream, built only
            // from its own lines. The second is released with the line.
            if previous == nil { try line.send(FilterInput(picture)) } else { try line.sendEnd() }
        }
        return try line.receive()
    }

    /// Releases the line and the pictures that it holds.
    private func forget() { (line, kind, sent) = (nil, nil, nil) }

    private func result(_ frame: FFmpegFrame, of picture: SourceFrame) -> SourceFrame {
        var result = picture
        result.pixelFormat = PixelFormat(frame.nativePixelFormat) ?? picture.pixelFormat
        (result.size, result.planes, result.owner) = (frame.size, frame.planes(), frame)
        if filters.contains(.deinterlacing) { result.fieldOrder = .progressive }
        if filters.contains(.toneMapping) { result.colorSpace = .bt709 }
        return result
    }
}
