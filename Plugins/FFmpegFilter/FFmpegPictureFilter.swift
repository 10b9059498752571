import CAVFilter
import InletCore
import InletFFmpeg

// Unsafe: passes names of filters to libavfilter.
/// A ``PictureFilter`` by libavfilter.
final class FFmpegPictureFilter: PictureFilter {
    private let filters: PictureFilters
    private var line: FilterLine?
    /// The kind of pictures that the line was made for.
    private var kind: Kind?
    /// The numbers of the two pictures that the line got last, of which the second has not come out.
    private var sent: (before: UInt64?, last: UInt64)?

    /// The peak of a picture that states none, in candela per square metre: that of a reference display for HLG, and of
    /// common ones for PQ.
    private static let usualPeak = 1000.0
    /// The luminance of white after tone mapping.
    private static let white = 100.0
    /// The pictures that a line of filters takes.
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
                .unsupported, "There is no libavfilter to filter pictures with. Install the package libavfilter8.")
        }
        let wanted = Self.names.filter { filters.contains($0.filter) }
        for name in wanted.flatMap(\.names) where unsafe !inlet_avfilter_has(name) {
            throw InletError(
                .unsupported, "The installed libavfilter has no filter \(name). Try a fuller build of FFmpeg.")
        }
        self.filters = filters
    }

    /// The filters in the order in which they are applied, in the syntax of ffmpeg's option `-vf`.
    private func text(_ kind: Kind) -> String {
        var steps: [String] = []
        if filters.contains(.deinterlacing) {
            // It filters every picture: those that are not interlaced are neighbours, whose results are not used.
            steps.append("bwdif=mode=send_frame:parity=auto:deint=all")
        }
        if filters.contains(.toneMapping) {
            // zimg refuses odd sizes of pictures whose chroma is halved.
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

    /// Returns the kind of a picture, with the peak that it states.
    private func kind(of picture: SourceFrame) -> Kind {
        let stated = (picture.owner as? FFmpegFrame)?.peakLuminance.flatMap { $0 >= Self.white ? $0 : nil }
        // HLG is relative to whatever display shows it.
        let isAbsolute = filters.contains(.toneMapping) && picture.colorSpace.transfer != .hlg
        return Kind(shape: FilterInput.Shape(picture), peak: isAbsolute ? stated ?? Self.usualPeak : Self.usualPeak)
    }

    /// Returns the picture as it comes out of the line at once.
    private func pass(_ picture: SourceFrame) throws(InletError) -> FFmpegFrame {
        let kind = kind(of: picture)
        let input = try FilterInput(picture)
        let line = if let line, self.kind == kind { line } else { try FilterLine(text(kind), for: input) }
        (self.line, self.kind) = (line, kind)
        try line.send(input)
        return try line.receive()
    }

    /// Returns the picture as it comes out of the line when the one after it has been put in.
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
            // The result of the previous picture is not needed now.
            if previous != nil { _ = try line.receive() }
        }
        if let next {
            try line.send(FilterInput(next))
            (self.line, self.kind, sent) = (line, kind, (picture.sequence, next.sequence))
        } else {
            forget()
            // A single picture is put in twice. The first copy comes out as the first picture of a stream does, made
            // only from its lines; the second is released with the line.
            if previous == nil { try line.send(FilterInput(picture)) } else { try line.sendEnd() }
        }
        return try line.receive()
    }

    /// Releases the line, with the pictures that it holds.
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
