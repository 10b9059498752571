/// A picture as its source made it: native pixel format, borrowed memory, and the owner that keeps that memory alive.
///
/// What waits in a queue is a `SourceFrame`; it becomes I420 only when a sink takes it.
public struct SourceFrame: Sendable {
    /// How the bytes are laid out.
    public var pixelFormat: PixelFormat
    /// The size of the picture, before any rotation.
    public var size: ImageSize
    /// Where the pixels are. Valid while ``owner`` lives.
    public var planes: SourcePlanes
    /// Keeps the planes' memory alive and unwritten; released on whatever thread lets go last.
    public var owner: any AnyObject & Sendable
    /// The presentation time on the source's own timeline. Nil where the source has none; the capture clock then uses the time
    /// of arrival, and says so.
    public var pts: MediaTime?
    /// How long the picture is shown, where the source knows.
    public var duration: MediaTime?
    /// Counts the frames that the source produced, from 0.
    ///
    /// A gap is a loss before Inlet saw the frame. The bridge counts it as ``DropReason/lostBySource``, so that a source which leaves a gap
    /// must not count it again. A frame that the source counted under a reason of its own leaves none, and neither does one that it
    /// never made: passed over for the ``SourceContext/demand``, or due during a pause.
    public var sequence: UInt64
    /// What the numbers mean as colour.
    public var colorSpace: ColorSpace
    /// How far to turn the picture clockwise to show it upright.
    public var rotation: Rotation
    /// Facts about this frame.
    public var flags: FrameFlags
    /// The width of a pixel over its height; nil where the source does not know.
    public var sampleAspectRatio: Rational?
    /// When the device exposed or read out the picture, where it says (V4L2).
    public var captureTime: MonotonicTime?
    /// When the picture's compressed data had arrived whole, where there was any.
    public var receiveTime: MonotonicTime?
    /// The time of day at which the picture was taken, in nanoseconds since 1970, where the source knows (RTCP sender reports).
    public var wallClock: Int64?

    public init(
        pixelFormat: PixelFormat, size: ImageSize, planes: SourcePlanes, owner: any AnyObject & Sendable,
        pts: MediaTime?, duration: MediaTime? = nil, sequence: UInt64, colorSpace: ColorSpace = .unspecified,
        rotation: Rotation = .none, flags: FrameFlags = [], sampleAspectRatio: Rational? = nil
    ) {
        self.pixelFormat = pixelFormat
        self.size = size
        self.planes = planes
        self.owner = owner
        self.pts = pts
        self.duration = duration
        self.sequence = sequence
        self.colorSpace = colorSpace
        self.rotation = rotation
        self.flags = flags
        self.sampleAspectRatio = sampleAspectRatio
    }

    /// A frame that is I420 already. Nothing is copied.
    public init(
        _ buffer: I420Buffer, pts: MediaTime?, duration: MediaTime? = nil, sequence: UInt64,
        colorSpace: ColorSpace = .unspecified, rotation: Rotation = .none, flags: FrameFlags = []
    ) {
        self.init(
            pixelFormat: .yuv420p, size: buffer.size, planes: SourcePlanes(buffer), owner: buffer, pts: pts,
            duration: duration, sequence: sequence, colorSpace: colorSpace, rotation: rotation, flags: flags,
            sampleAspectRatio: Rational(1))
    }
}

/// Facts about one frame.
public struct FrameFlags: OptionSet, Sendable, Hashable {
    /// One bit a fact.
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Decodes without any frame before it.
    public static let key = FrameFlags(rawValue: 1 << 0)
    /// The data was damaged; the picture may show it.
    public static let corrupt = FrameFlags(rawValue: 1 << 1)
    /// The timeline starts anew here: PTS before and after are unrelated.
    public static let discontinuity = FrameFlags(rawValue: 1 << 2)
    /// Not the source's picture: the bridge fills an outage with it.
    public static let placeholder = FrameFlags(rawValue: 1 << 3)
}

/// One plane of a native picture.
@safe public struct SourcePlane: Sendable {
    // The frame's owner keeps this memory alive and unwritten for as long as the frame is referenced.
    nonisolated(unsafe) private let memory: UnsafeRawBufferPointer
    /// Where the top row starts, in bytes from the start of the memory.
    public let offset: Int
    /// Bytes from one row to the row below it; negative where the picture is stored bottom up.
    public let stride: Int

    /// - Parameters:
    ///   - memory: all that may be read.
    ///   - offset: where the top row starts in it. The default is 0.
    @unsafe public init(_ memory: UnsafeRawBufferPointer, offset: Int = 0, stride: Int) {
        unsafe self.memory = memory
        self.offset = offset
        self.stride = stride
    }

    /// How many bytes may be read.
    public var byteCount: Int { unsafe memory.count }

    /// Whether `rows` rows of `rowBytes` bytes lie within the memory.
    public func holds(rows: Int, of rowBytes: Int) -> Bool {
        guard rows > 0, rowBytes > 0, offset >= 0 else { return rows == 0 || rowBytes == 0 }
        let (span, overflow) = stride.multipliedReportingOverflow(by: rows - 1)
        let (last, overflowed) = span.addingReportingOverflow(offset)
        guard !overflow, !overflowed, stride.magnitude >= rowBytes || rows == 1 else { return false }
        return min(offset, last) >= 0 && max(offset, last) <= byteCount - rowBytes
    }

    /// The first byte of the top row. Check ``holds(rows:of:)`` before reading.
    @unsafe public var topRow: UnsafePointer<UInt8>? {
        unsafe memory.baseAddress.map { unsafe ($0 + offset).assumingMemoryBound(to: UInt8.self) }
    }

    /// The memory from the top row on, for a picture stored top down.
    @unsafe public var bytesFromTop: UnsafeRawBufferPointer {
        guard (0...byteCount).contains(offset) else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
        return unsafe UnsafeRawBufferPointer(rebasing: memory[offset...])
    }
}

/// The planes of a native picture, at most four, without an array on the heap.
public struct SourcePlanes: Sendable {
    /// How many planes there are.
    public private(set) var count = 0
    private var slots: (SourcePlane?, SourcePlane?, SourcePlane?, SourcePlane?) = (nil, nil, nil, nil)

    /// No planes yet.
    public init() {}

    /// Adds a plane; a fifth is ignored, as no pixel format has one.
    public mutating func append(_ plane: SourcePlane) {
        switch count {
        case 0: slots.0 = plane
        case 1: slots.1 = plane
        case 2: slots.2 = plane
        case 3: slots.3 = plane
        default: return
        }
        count += 1
    }

    /// A plane by its number, or nil where the picture has no such plane.
    public subscript(index: Int) -> SourcePlane? {
        switch index {
        case 0: slots.0
        case 1: slots.1
        case 2: slots.2
        case 3: slots.3
        default: nil
        }
    }

    /// The three planes of an I420 buffer.
    public init(_ buffer: I420Buffer) {
        for plane in I420Buffer.Plane.allCases {
            let rows = I420Buffer.rows(of: plane, in: buffer.size)
            let stride = buffer.strides[plane]
            let count = stride * (rows.height - 1) + rows.width
            unsafe append(
                SourcePlane(
                    UnsafeRawBufferPointer(start: buffer.baseAddress(of: plane), count: count), stride: stride))
        }
    }
}
