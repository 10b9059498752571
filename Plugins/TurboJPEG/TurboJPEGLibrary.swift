import CTurboJPEG
import InletCore

// Unsafe: owns a libjpeg-turbo decompressor.
/// Owns a libjpeg-turbo decompressor.
///
/// Confined to one thread at a time.
@safe final class TurboJPEGLibrary {
    /// The layout of a picture's samples.
    struct Layout: Sendable, Hashable {
        /// The pixel format, by FFmpeg's name.
        var pixelFormat: PixelFormat
        var planes: [Plane]
        var byteCount: Int

        struct Plane: Sendable, Hashable {
            var offset: Int
            var stride: Int
            /// The number of rows of the picture, without the one that the library adds to an odd number.
            var rows: Int
        }
    }

    /// The result of decoding a picture.
    enum Result: Equatable {
        case whole
        /// The picture is damaged, with the library's message.
        case damaged(String)
        /// The picture cannot be decoded, with the library's message.
        case failed(String)
    }

    private let handle: tjhandle

    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    init() throws(InletError) {
        guard let handle = unsafe tjInitDecompress() else {
            throw InletError(
                .resourceExhausted, "Not enough memory for libjpeg-turbo.",
                context: .init(operation: "tjInitDecompress"))
        }
        unsafe self.handle = handle
    }

    deinit { _ = unsafe tjDestroy(handle) }

    /// Returns the layout of a JPEG's planes; nil if the library does not support its sampling.
    func layout(of bytes: Span<UInt8>, size: ImageSize) -> Layout? {
        var (width, height, sampling, colors) = (Int32(0), Int32(0), Int32(-1), Int32(-1))
        let code = unsafe bytes.withUnsafeBufferPointer {
            unsafe tjDecompressHeader3(
                handle, $0.baseAddress, UInt($0.count), &width, &height, &sampling, &colors)
        }
        guard code == 0, Int(width) == size.width, Int(height) == size.height,
            let name = Self.names[sampling], colors == TJCS_YCbCr.rawValue || colors == TJCS_GRAY.rawValue
        else { return nil }
        var layout = Layout(pixelFormat: name, planes: [], byteCount: 0)
        for component in 0..<(sampling == TJSAMP_GRAY.rawValue ? Int32(1) : 3) {
            let planeWidth = Int(tjPlaneWidth(component, width, sampling))
            let planeHeight = Int(tjPlaneHeight(component, height, sampling))
            guard planeWidth > 0, planeHeight > 0 else { return nil }
            let stride = (planeWidth + 63) & ~63
            layout.planes.append(
                Layout.Plane(
                    offset: layout.byteCount, stride: stride, rows: component == 0 ? size.height : planeHeight))
            layout.byteCount += stride * planeHeight
        }
        return layout
    }

    /// Decodes the JPEG for which ``layout(of:size:)`` was just called.
    ///
    /// - Parameters:
    ///   - memory: at least ``Layout/byteCount`` bytes.
    ///   - stopsAtDamage: whether decoding stops at the first damage, so that the memory holds only part of the
    ///     picture.
    @unsafe func decode(
        _ bytes: Span<UInt8>, size: ImageSize, into memory: UnsafeMutableRawBufferPointer, _ layout: Layout,
        stopsAtDamage: Bool
    ) -> Result {
        guard memory.count >= layout.byteCount, let base = memory.baseAddress else { return .failed("no memory") }
        var planes = unsafe layout.planes.map { plane -> UnsafeMutablePointer<UInt8>? in
            unsafe (base + plane.offset).assumingMemoryBound(to: UInt8.self)
        }
        var strides = layout.planes.map { Int32(clamping: $0.stride) }
        // A progressive picture may have at most 500 scans, because each one costs as much as a picture.
        let flags = TJFLAG_LIMITSCANS | (stopsAtDamage ? TJFLAG_STOPONWARNING : 0)
        let code = unsafe bytes.withUnsafeBufferPointer { source in
            unsafe tjDecompressToYUVPlanes(
                handle, source.baseAddress, UInt(source.count), &planes, Int32(clamping: size.width), &strides,
                Int32(clamping: size.height), flags)
        }
        guard code != 0 else { return .whole }
        let text = unsafe tjGetErrorStr2(handle).map { unsafe String(cString: $0) } ?? ""
        let isWarning = unsafe tjGetErrorCode(handle) == TJERR_WARNING.rawValue
        return isWarning ? .damaged(text) : .failed(text)
    }

    /// FFmpeg's names of the formats to which libavcodec decodes a JPEG: `j` is full range.
    private static let names: [Int32: PixelFormat] = [
        Int32(TJSAMP_420.rawValue): .yuvj420p, Int32(TJSAMP_422.rawValue): PixelFormat("yuvj422p"),
        Int32(TJSAMP_444.rawValue): PixelFormat("yuvj444p"), Int32(TJSAMP_440.rawValue): PixelFormat("yuvj440p"),
        Int32(TJSAMP_411.rawValue): PixelFormat("yuvj411p"), Int32(TJSAMP_GRAY.rawValue): .gray,
    ]
}
