// Unsafe: hands out the memory that it wraps as spans.
/// An 8-bit planar 4:2:0 picture in memory: immutable, shared by reference, returned when its last owner releases it.
///
/// | plane | bytes a row | rows |
/// |---|---|---|
/// | Y | `size.width` | `size.height` |
/// | U, V | `size.chroma.width` | `size.chroma.height` |
///
/// Each plane has a stride, the distance in bytes from one row to the next, at least as large as the row. The memory
/// belongs to a pool, or to a decoder or driver whose buffer this wraps; nothing is copied to make one.
///
/// Safe from any thread. Nothing writes to the memory between publication and the release of the last reference.
@safe public final class I420Buffer: Sendable {
    /// A plane of the buffer: luma or a chroma component.
    public enum Plane: Int, Sendable, CaseIterable { case y, u, v }

    /// The size of the Y plane in pixels.
    public let size: ImageSize
    /// The distance between rows in bytes, for each plane; never negative, never smaller than the row.
    public let strides: Strides

    // Read-only for the lifetime of the object: `owner` keeps the memory mapped and unwritten.
    nonisolated(unsafe) private let yBase: UnsafePointer<UInt8>
    nonisolated(unsafe) private let uBase: UnsafePointer<UInt8>
    nonisolated(unsafe) private let vBase: UnsafePointer<UInt8>
    private let owner: any AnyObject & Sendable

    /// Bytes between rows in the Y, U and V planes.
    public struct Strides: Sendable, Hashable {
        /// The stride of the Y plane.
        public var y: Int
        /// The stride of the U plane.
        public var u: Int
        /// The stride of the V plane.
        public var v: Int

        public init(y: Int, u: Int, v: Int) {
            self.y = y
            self.u = u
            self.v = v
        }

        /// The stride of one plane.
        public subscript(plane: Plane) -> Int {
            switch plane {
            case .y: y
            case .u: u
            case .v: v
            }
        }
    }

    /// Wraps memory that something else owns, without a copy.
    ///
    /// - Parameters:
    ///   - size: the size of the picture.
    ///   - y: the luma memory, from its first pixel on.
    ///   - u: the memory of blue chroma, from its first pixel on.
    ///   - v: the memory of red chroma, from its first pixel on.
    ///   - strides: bytes from one row of a plane to the next.
    ///   - owner: keeps that memory alive and unwritten; it is released with the buffer.
    /// - Throws: ``InletError/Code/malformedData`` if a plane is shorter than its size and stride require, or a stride
    ///   is shorter than a row; ``InletError/Code/invalidConfiguration`` if the size is not ``ImageSize/isValid``.
    @unsafe public init(
        size: ImageSize, y: UnsafeRawBufferPointer, u: UnsafeRawBufferPointer, v: UnsafeRawBufferPointer,
        strides: Strides, owner: any AnyObject & Sendable
    ) throws(InletError) {
        self.size = size
        self.strides = strides
        self.owner = owner
        unsafe yBase = try Self.base(.y, y, size: size, stride: strides.y)
        unsafe uBase = try Self.base(.u, u, size: size, stride: strides.u)
        unsafe vBase = try Self.base(.v, v, size: size, stride: strides.v)
    }

    /// Wraps planes that are known to be long enough.
    @unsafe init(
        size: ImageSize, y: UnsafePointer<UInt8>, u: UnsafePointer<UInt8>, v: UnsafePointer<UInt8>,
        strides: Strides, owner: any AnyObject & Sendable
    ) {
        self.size = size
        self.strides = strides
        self.owner = owner
        unsafe yBase = y
        unsafe uBase = u
        unsafe vBase = v
    }

    private static func base(
        _ plane: Plane, _ bytes: UnsafeRawBufferPointer, size: ImageSize, stride: Int
    ) throws(InletError) -> UnsafePointer<UInt8> {
        guard size.isValid else {
            throw InletError(.invalidConfiguration, "A picture of \(size) pixels cannot exist.")
        }
        let rows = rows(of: plane, in: size)
        guard stride >= rows.width else {
            throw InletError(
                .malformedData,
                "The \(plane) plane of a \(size) picture has a stride of \(stride) bytes; a row takes \(rows.width).")
        }
        let (offset, overflow) = stride.multipliedReportingOverflow(by: rows.height - 1)
        guard !overflow, bytes.count - rows.width >= offset, let base = bytes.baseAddress else {
            throw InletError(
                .malformedData,
                """
                The \(plane) plane of a \(size) picture holds \(bytes.count) bytes; \
                \(rows.height) rows with a stride of \(stride) take more.
                """)
        }
        return unsafe base.assumingMemoryBound(to: UInt8.self)
    }

    /// Returns the width in bytes and the number of rows of a plane.
    public static func rows(of plane: Plane, in size: ImageSize) -> ImageSize {
        plane == .y ? size : size.chroma
    }

    /// Returns the first pixel of a plane. Rows follow at ``strides``; valid while the buffer is referenced.
    @unsafe public func baseAddress(of plane: Plane) -> UnsafePointer<UInt8> {
        switch plane {
        case .y: unsafe yBase
        case .u: unsafe uBase
        case .v: unsafe vBase
        }
    }

    /// Returns a plane's memory from its first to its last pixel, rows ``strides`` apart.
    @_lifetime(borrow self)
    public func bytes(of plane: Plane) -> Span<UInt8> {
        let rows = Self.rows(of: plane, in: size)
        let count = strides[plane] * (rows.height - 1) + rows.width
        let span = unsafe Span(_unsafeStart: baseAddress(of: plane), count: count)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// Returns one row of a plane, without padding.
    ///
    /// - Precondition: `index` is a row of the plane.
    @_lifetime(borrow self)
    public func row(_ index: Int, of plane: Plane) -> Span<UInt8> {
        let rows = Self.rows(of: plane, in: size)
        precondition((0..<rows.height).contains(index), "row \(index) of a plane of \(rows.height) rows")
        let start = unsafe baseAddress(of: plane) + index * strides[plane]
        let span = unsafe Span(_unsafeStart: start, count: rows.width)
        return unsafe _overrideLifetime(span, borrowing: self)
    }
}
