import CV4L2
import InletCore
import InletV4L2

// Unsafe: locates the planes of a picture in a driver's buffers.
/// The layout of one negotiated format's pictures in a driver's buffers, from which frames are made.
@safe struct CapturePicture {
    let format: inlet_v4l2_format
    let code: FourCC
    let layout: CaptureLayout
    /// The size of a frame. If each buffer holds one field, the height is twice the one that the driver states.
    let size: ImageSize
    /// The layout of a frame's fields in the buffers.
    let fields: CaptureFields
    /// The field order prescribed by the input's video standard.
    let standardOrder: FieldOrder
    let colorSpace: ColorSpace
    /// The stride of each of the driver's planes.
    private let strides: [Int]
    /// The minimum number of bytes in each of the driver's planes for a complete picture; empty for compressed
    /// pictures.
    private let neededBytes: [Int]

    /// The codec of compressed pictures; nil for uncompressed ones.
    var codec: VideoCodec? { if case .compressed(let codec) = layout { codec } else { nil } }

    /// - Parameter has525Lines: whether the input has a television standard of 525 lines.
    /// - Throws: ``InletError/Code/unsupported`` if the format cannot be read.
    init(_ format: inlet_v4l2_format, has525Lines: Bool = false) throws(InletError) {
        self.format = format
        code = FourCC(rawValue: format.pixelformat)
        size = Self.frameSize(format)
        fields = CaptureFields(v4l2: format, has525Lines: has525Lines)
        standardOrder = CaptureFields.order(has525Lines: has525Lines)
        // A buffer holds a frame or a field.
        let size = ImageSize(width: Int(format.width), height: Int(format.height))
        guard self.size.isValid, format.planes > 0, let layout = CaptureLayout.table[code] else {
            throw InletError(
                .unsupported,
                "The driver set \(self.size) \(code), which is not supported. Request another with format=.")
        }
        self.layout = layout
        let lines = PlaneValues(format.bytesperline).first(format.planes)
        let count = lines.count
        strides = lines
        var isRGB = false
        switch layout {
        case .compressed:
            neededBytes = []
        case .pixels(let pixelFormat, let arrangement):
            isRGB = Self.isRGB(pixelFormat)
            neededBytes = Self.neededBytes(arrangement, strides: lines, size: size)
        case .repacked(let repacking):
            if case .components(_, let isOfRGB) = repacking { isRGB = isOfRGB }
            if case .widened = repacking { isRGB = true }
            let rows = repacking.isSemiplanar && count == 1 ? 2 * size.height : size.height
            let rowBytes = repacking.rowBytes(width: size.width)
            neededBytes = lines.map { $0 * (rows - 1) + rowBytes }
            guard lines.allSatisfy({ $0 >= rowBytes }) else {
                throw InletError(.unsupported, "The driver set rows of \(lines) bytes, too short for \(size) \(code).")
            }
        case .vendor(let vendor):
            isRGB = vendor.output == .rgb
            guard count == 1, vendor.fits(size) else {
                throw InletError(
                    .unsupported, "libv4l's converter does not support \(size) \(code). Set another size= or format=.")
            }
            neededBytes = [vendor.byteCount(size)]
        }
        colorSpace = ColorSpace(v4l2: format, isRGB: isRGB)
        guard zip(neededBytes, planeSizes).allSatisfy({ $0.0 <= $0.1 }) else {
            throw InletError(
                .unsupported,
                "The driver's buffers of \(planeSizes) bytes are too small for \(size) \(code) in V4L2's layout. Try another size=."
            )
        }
    }

    /// Returns the frame size of a format, whose buffers may each hold one field.
    static func frameSize(_ format: inlet_v4l2_format) -> ImageSize {
        ImageSize(width: Int(format.width), height: Int(format.height) * (hasSeparateFields(format) ? 2 : 1))
    }

    /// Returns whether each buffer of a format holds one field, and the two fields of a frame can be joined.
    static func hasSeparateFields(_ format: inlet_v4l2_format) -> Bool {
        CaptureFields(v4l2: format, has525Lines: false) == .alternating
    }

    private static func isRGB(_ format: PixelFormat) -> Bool {
        ["rgb", "bgr", "argb", "abgr", "gbr", "bayer"].contains { format.name.hasBytePrefix($0) }
    }

    private static func neededBytes(
        _ arrangement: CaptureLayout.Arrangement, strides: [Int], size: ImageSize
    ) -> [Int] {
        if strides.count > 1 {
            // Separate planes need all their bytes, except those that may be missing after the last row.
            var needed = [strides[0] * (size.height - 1)]
            for stride in strides.dropFirst() {
                if case .planar(_, let y, _) = arrangement { needed.append(stride * max(0, (size.height >> y) - 1)) }
                if case .semiplanar(let y, _) = arrangement { needed.append(stride * max(0, (size.height >> y) - 1)) }
            }
            return needed
        }
        let planes = CaptureLayout.planes(arrangement, bytesPerLine: strides.first ?? 0, height: size.height)
        var shift = 0
        if case .planar(_, let y, _) = arrangement { shift = y }
        if case .semiplanar(let y, _) = arrangement { shift = y }
        return [
            planes.enumerated().map { index, plane in
                let rows = index == 0 ? size.height : size.height >> shift
                return plane.offset + plane.stride * max(0, rows - 1)
            }.max() ?? 0
        ]
    }

    /// Whether pictures are compressed and refer to other pictures.
    var isInterCoded: Bool {
        guard case .compressed(let codec) = layout else { return false }
        return codec != .mjpeg
    }

    /// The pixel format of the frames; nil if a decoder determines it.
    var pixelFormat: PixelFormat? {
        switch layout {
        case .pixels(let format, _): format
        case .repacked(let repacking): repacking.pixelFormat
        case .vendor(let vendor): vendor.pixelFormat
        case .compressed: nil
        }
    }

    /// The size of the largest picture in bytes, over all planes.
    var byteCount: Int { planeSizes.reduce(0, +) }

    /// The size in bytes of each of the driver's planes.
    var planeSizes: [Int] { PlaneValues(format.sizeimage).first(format.planes) }

    /// Returns whether a picture has the length that its format requires. Some drivers leave the length at 0, which
    /// means unknown.
    func isWhole(_ lengths: [Int]) -> Bool {
        if case .compressed = layout { return lengths.contains { $0 > 0 } }
        return zip(neededBytes, lengths).allSatisfy { $0.1 == 0 || $0.1 >= $0.0 }
    }

    /// Returns the rows in each of the driver's planes, for a picture with the height of a frame or a field. Not for
    /// compressed pictures.
    func rows(height: Int) -> [[FieldWeave.Rows]] {
        switch layout {
        case .compressed, .vendor: return []
        case .repacked(let repacking):
            guard repacking.isSemiplanar, strides.count == 1 else {
                return strides.map { [FieldWeave.Rows(offset: 0, stride: $0, count: height)] }
            }
            return [[0, strides[0] * height].map { FieldWeave.Rows(offset: $0, stride: strides[0], count: height) }]
        case .pixels(_, let arrangement):
            var shift = 0
            if case .planar(_, let y, _) = arrangement { shift = y }
            if case .semiplanar(let y, _) = arrangement { shift = y }
            let chromaHeight = (height + (1 << shift) - 1) >> shift
            func rows(_ index: Int, _ offset: Int, _ stride: Int) -> FieldWeave.Rows {
                FieldWeave.Rows(offset: offset, stride: stride, count: index == 0 ? height : chromaHeight)
            }
            guard strides.count == 1 else { return strides.enumerated().map { [rows($0, 0, $1)] } }
            let planes = CaptureLayout.planes(arrangement, bytesPerLine: strides[0], height: height)
            return [planes.enumerated().map { rows($0, $1.offset, $1.stride) }]
        }
    }

    /// Returns the planes of a picture in the driver's memory, or in a copy of it with the same layout. Not for
    /// compressed pictures.
    @unsafe func planes(in memory: [UnsafeRawBufferPointer]) -> SourcePlanes {
        var planes = SourcePlanes()
        guard case .pixels(_, let arrangement) = layout else { return planes }
        if unsafe memory.count > 1 {
            var order = Array(0..<(unsafe memory.count))
            if case .planar(_, _, true) = arrangement, order.count == 3 { order = [0, 2, 1] }
            for index in order where index < strides.count {
                unsafe planes.append(SourcePlane(memory[index], stride: strides[index]))
            }
            return planes
        }
        guard let whole = unsafe memory.first else { return planes }
        for plane in CaptureLayout.planes(arrangement, bytesPerLine: strides.first ?? 0, height: size.height) {
            unsafe planes.append(SourcePlane(whole, offset: plane.offset, stride: plane.stride))
        }
        return planes
    }

    /// Rewrites a picture into the process's memory.
    ///
    /// - Returns: the planes in that memory.
    @unsafe func repack(
        _ repacking: PixelRepacking, from memory: [UnsafeRawBufferPointer], to block: PictureBlock
    ) -> SourcePlanes {
        let target = repacking.layout(size: size)
        let rowBytes = repacking.rowBytes(width: size.width)
        var starts: [(plane: Int, offset: Int)] = [(0, 0)]
        if repacking.isSemiplanar {
            let isSplit = unsafe min(memory.count, strides.count) > 1
            starts.append(isSplit ? (1, 0) : (0, strides[0] * size.height))
        }
        // A driver's buffers may have fewer planes than its format.
        guard unsafe !memory.isEmpty else { return block.planes(target.planes) }
        for (part, start) in starts.enumerated() {
            let source = unsafe memory[start.plane]
            for row in 0..<size.height {
                let from = start.offset + row * strides[start.plane]
                guard from + rowBytes <= source.count else { break }
                let targets = unsafe target.planes.map { plane in
                    let begin = plane.offset + row * plane.stride
                    return unsafe UnsafeMutableRawBufferPointer(rebasing: block.memory[begin..<begin + plane.stride])
                }
                unsafe repacking.repack(
                    row: UnsafeRawBufferPointer(rebasing: source[from..<from + rowBytes]), plane: part,
                    width: size.width, targets: targets)
            }
        }
        return block.planes(target.planes)
    }
}

extension PictureBlock {
    /// Returns the planes of a picture in the block.
    func planes(_ places: [(offset: Int, stride: Int)]) -> SourcePlanes {
        var planes = SourcePlanes()
        let whole = unsafe UnsafeRawBufferPointer(memory)
        for plane in places { unsafe planes.append(SourcePlane(whole, offset: plane.offset, stride: plane.stride)) }
        return planes
    }
}
