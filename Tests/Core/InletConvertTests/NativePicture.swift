import CFFmpeg
import Glibc
import InletCore
import Testing

/// A picture of any pixel format as packed bytes, in the order of FFmpeg's rawvideo, and frames made from it.
struct NativePicture {
    var format: String
    var size: ImageSize
    var bytes: [UInt8]

    /// Bytes and rows of a plane, from libavutil.
    struct Extent {
        var offset: Int
        var rowBytes: Int
        var rows: Int
        var isPalette = false
    }

    init(_ format: String, _ size: ImageSize, _ bytes: [UInt8]) throws {
        self.format = format
        self.size = size
        self.bytes = bytes
        try #require(bytes.count == byteCount, "\(format) \(size)")
    }

    /// A picture of random bytes, the same for the same seed.
    init(noise format: String, _ size: ImageSize, seed: UInt64 = 1) {
        self.format = format
        self.size = size
        bytes = []
        bytes = Self.noise(byteCount, seed: seed)
    }

    /// Bytes of a xorshift generator.
    static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }

    private var byteCount: Int { extents.reduce(0) { max($0, $1.offset + $1.rowBytes * $1.rows) } }

    var extents: [Extent] {
        let format = unsafe av_get_pix_fmt(format)
        guard let descriptor = unsafe av_pix_fmt_desc_get(format) else { return [] }
        var extents: [Extent] = []
        var offset = 0
        for plane in 0..<Int(av_pix_fmt_count_planes(format)) {
            let shift = unsafe plane == 1 || plane == 2 ? Int(descriptor.pointee.log2_chroma_h) : 0
            let rows = (size.height + (1 << shift) - 1) >> shift
            let rowBytes = Int(av_image_get_linesize(format, Int32(size.width), Int32(plane)))
            extents.append(Extent(offset: offset, rowBytes: rowBytes, rows: rows))
            offset += rows * rowBytes
        }
        if unsafe Int32(truncatingIfNeeded: descriptor.pointee.flags) & AV_PIX_FMT_FLAG_PAL != 0 {
            extents.append(Extent(offset: offset, rowBytes: 1024, rows: 1, isPalette: true))
        }
        return extents
    }

    /// The layout of the planes in the memory of a frame. Padding contains junk.
    enum Layout: CaseIterable {
        /// Rows and planes with space after them.
        case padded
        /// Rows without padding; each plane ends where memory ends, so that a read beyond it kills the process.
        case guarded
        /// The same with padding between rows, more than any conversion reads ahead.
        case guardedWide
        /// The same with the top row last in memory.
        case guardedBottomUp
        /// As ``padded``, with the top row last in memory.
        case bottomUp
        /// As ``padded``, with rows that are an odd number of bytes apart.
        case oddStride

        var isGuarded: Bool { [.guarded, .guardedWide, .guardedBottomUp].contains(self) }
        var isBottomUp: Bool { [.guardedBottomUp, .bottomUp].contains(self) }

        func stride(for rowBytes: Int) -> Int {
            switch self {
            case .guarded: rowBytes
            case .guardedWide, .guardedBottomUp: rowBytes + 300
            case .padded, .bottomUp: (rowBytes + 79) / 32 * 32
            case .oddStride: (rowBytes | 1) + 2
            }
        }
    }

    func frame(_ layout: Layout = .padded, colorSpace: ColorSpace = .unspecified) throws -> SourceFrame {
        let memory = PlaneMemory()
        var planes = SourcePlanes()
        for extent in extents {
            let stride = extent.isPalette ? extent.rowBytes : layout.stride(for: extent.rowBytes)
            let span = stride * (extent.rows - 1) + extent.rowBytes
            let block = unsafe try memory.block(layout.isGuarded ? span : span + 96, guarded: layout.isGuarded)
            unsafe block.initializeMemory(as: UInt8.self, repeating: 0xA5)
            let isFlipped = layout.isBottomUp && !extent.isPalette
            for row in 0..<extent.rows {
                let start = extent.offset + row * extent.rowBytes
                let target = (isFlipped ? extent.rows - 1 - row : row) * stride
                unsafe UnsafeMutableRawBufferPointer(rebasing: block[target...])
                    .copyBytes(from: bytes[start..<start + extent.rowBytes])
            }
            unsafe planes.append(
                SourcePlane(
                    UnsafeRawBufferPointer(block), offset: isFlipped ? (extent.rows - 1) * stride : 0,
                    stride: isFlipped ? -stride : stride))
        }
        return SourceFrame(
            pixelFormat: PixelFormat(format), size: size, planes: planes, owner: memory, pts: nil, sequence: 0,
            colorSpace: colorSpace)
    }

    /// The same picture with its last column, its last row or both repeated.
    func extended(columns: Int, rows: Int) throws -> NativePicture {
        let larger = ImageSize(width: size.width + columns, height: size.height + rows)
        var result: [UInt8] = []
        for extent in extents {
            let pixel = extent.rowBytes / size.width
            for row in 0..<extent.rows + (extent.isPalette ? 0 : rows) {
                let start = extent.offset + min(row, extent.rows - 1) * extent.rowBytes
                let end = start + extent.rowBytes
                result += bytes[start..<end]
                if columns > 0, !extent.isPalette { result += bytes[end - pixel..<end] }
            }
        }
        return try NativePicture(format, larger, result)
    }
}

/// The memory of a frame's planes, freed with the frame.
///
/// `@unchecked Sendable`: written only while the frame is made.
@safe final class PlaneMemory: @unchecked Sendable {
    private var mappings: [UnsafeMutableRawBufferPointer] = unsafe []

    deinit {
        unsafe mappings.forEach { mapping in _ = unsafe munmap(mapping.baseAddress, mapping.count) }
    }

    /// Separate memory, which may end at a page that cannot be read.
    func block(_ count: Int, guarded: Bool) throws -> UnsafeMutableRawBufferPointer {
        let page = Int(getpagesize())
        let pages = (count + page - 1) / page * page
        let start = unsafe try #require(
            mmap(nil, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        unsafe try #require(start != MAP_FAILED)
        unsafe mappings.append(UnsafeMutableRawBufferPointer(start: start, count: pages + page))
        if guarded { unsafe try #require(mprotect(start + pages, page, PROT_NONE) == 0) }
        return unsafe UnsafeMutableRawBufferPointer(start: start + (guarded ? pages - count : 0), count: count)
    }
}
