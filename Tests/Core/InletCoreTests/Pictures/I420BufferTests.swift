import InletCore
import Testing

/// Memory that reports its release, like a decoder's buffer.
@safe final class TestMemory: Sendable {
    // Written in `init` only; freed in `deinit` only.
    nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer
    private let onRelease: @Sendable () -> Void

    init(count: Int, onRelease: @escaping @Sendable () -> Void = {}) {
        unsafe bytes = .allocate(byteCount: count, alignment: 64)
        self.onRelease = onRelease
        for index in 0..<count { unsafe bytes[index] = UInt8(truncatingIfNeeded: index) }
    }

    deinit {
        unsafe bytes.deallocate()
        onRelease()
    }

    func region(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
    }
}

@Suite struct I420BufferTests {
    /// A 5x3 picture: Y 5x3, U and V 3x2, in planes of exactly the given lengths.
    private func wrap(
        y: Int = 21, u: Int = 7, v: Int = 7, strides: I420Buffer.Strides = .init(y: 8, u: 4, v: 4),
        size: ImageSize = ImageSize(width: 5, height: 3)
    ) throws(InletError) -> I420Buffer {
        let memory = TestMemory(count: 256)
        return try unsafe I420Buffer(
            size: size, y: memory.region(0..<y), u: memory.region(64..<(64 + u)), v: memory.region(128..<(128 + v)),
            strides: strides, owner: memory)
    }

    @Test("The last row needs no padding")
    func shortestPlanes() throws {
        let buffer = try wrap()
        #expect(buffer.bytes(of: .y).count == 21)
        #expect(buffer.bytes(of: .u).count == 7)
        #expect(buffer.row(2, of: .y).count == 5)
        #expect(buffer.row(2, of: .y)[0] == 16)
        #expect(buffer.row(1, of: .u)[2] == 64 + 6)
        #expect(buffer.row(1, of: .v)[2] == 128 + 6)
    }

    @Test(
        "A plane one byte short is refused and named",
        arguments: [(20, 7, 7, "y"), (21, 6, 7, "u"), (21, 7, 6, "v"), (0, 7, 7, "y")])
    func shortPlane(y: Int, u: Int, v: Int, name: String) {
        let error = #expect(throws: InletError.self) { try wrap(y: y, u: u, v: v) }
        #expect(error?.code == .malformedData)
        #expect(error?.message.contains("The \(name) plane of a 5x3 picture") == true)
    }

    @Test(
        "A stride that is shorter than a row, negative or huge is refused",
        arguments: [
            I420Buffer.Strides(y: 4, u: 4, v: 4), .init(y: 8, u: 2, v: 4), .init(y: 8, u: 4, v: 0),
            .init(y: -8, u: 4, v: 4), .init(y: .max, u: 4, v: 4), .init(y: .max / 2, u: 4, v: 4),
            .init(y: .min, u: 4, v: 4), .init(y: 8, u: .max, v: 4), .init(y: 8, u: .max - 1, v: 4),
        ])
    func badStride(strides: I420Buffer.Strides) {
        let error = #expect(throws: InletError.self) { try wrap(strides: strides) }
        #expect(error?.code == .malformedData)
    }

    @Test(
        "An impossible size is refused",
        arguments: [(0, 3), (5, 0), (-5, 3), (40_000, 3), (5, 40_000)])
    func badSize(width: Int, height: Int) {
        let error = #expect(throws: InletError.self) { try wrap(size: ImageSize(width: width, height: height)) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test("A plane without memory is refused")
    func noMemory() {
        let memory = TestMemory(count: 64)
        let error = #expect(throws: InletError.self) {
            try unsafe I420Buffer(
                size: ImageSize(width: 1, height: 1), y: UnsafeRawBufferPointer(start: nil, count: 0),
                u: memory.region(0..<1), v: memory.region(0..<1), strides: .init(y: 1, u: 1, v: 1), owner: memory)
        }
        #expect(error?.code == .malformedData)
    }

    @Test("The owner is released with the last reference, not before")
    func ownership() async throws {
        try await confirmation { released in
            var frame: SourceFrame?
            do {
                let memory = TestMemory(count: 256) { released() }
                let buffer = try unsafe I420Buffer(
                    size: ImageSize(width: 4, height: 4), y: memory.region(0..<16), u: memory.region(16..<20),
                    v: memory.region(20..<24), strides: .init(y: 4, u: 2, v: 2), owner: memory)
                frame = SourceFrame(buffer, pts: nil, sequence: 0)
            }
            // The memory is unchanged: it was not freed.
            let plane = try #require(frame?.planes[1])
            #expect(unsafe plane.topRow?.pointee == 16)
            frame = nil
        }
    }

    @Test("A wrapped buffer is read in place")
    func zeroCopy() throws {
        let memory = TestMemory(count: 24)
        let buffer = try unsafe I420Buffer(
            size: ImageSize(width: 4, height: 4), y: memory.region(0..<16), u: memory.region(16..<20),
            v: memory.region(20..<24), strides: .init(y: 4, u: 2, v: 2), owner: memory)
        let base = unsafe UnsafeRawPointer(buffer.baseAddress(of: .v))
        #expect(unsafe base == UnsafeRawPointer(memory.bytes.baseAddress.map { unsafe $0 + 20 }))
    }
}
