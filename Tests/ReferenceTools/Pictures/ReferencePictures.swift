public import Foundation
public import InletCore

/// Pictures from another program, as packed I420.
public struct ReferencePictures: Sendable {
    public let size: ImageSize
    public let bytes: Data

    /// - Parameter bytes: whole pictures of `size`, planes packed.
    public init(_ bytes: Data, size: ImageSize) {
        self.size = size
        self.bytes = bytes
    }

    /// The pictures of an FFmpeg lavfi graph, such as `testsrc2=size=64x48`, converted to yuv420p if necessary.
    public init(lavfi graph: String, size: ImageSize, frames: Int) throws {
        try self.init(
            ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", graph, "-frames:v", "\(frames)", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-",
            ]), size: size)
    }

    public var count: Int { bytes.count / size.packedI420ByteCount }

    /// Returns a picture in a buffer like the pool's, with padded rows.
    public func padded(_ index: Int) throws -> I420Buffer {
        var draft = try I420Draft(size: size)
        var position = index * size.packedI420ByteCount
        for plane in I420Buffer.Plane.allCases {
            let rows = I420Buffer.rows(of: plane, in: size)
            let stride = draft.strides[plane]
            var target = draft.mutableBytes(of: plane)
            for row in 0..<rows.height {
                for column in 0..<rows.width { target[row * stride + column] = bytes[position + column] }
                position += rows.width
            }
        }
        return draft.publish()
    }

    /// Returns a picture in a buffer without padding between the rows.
    public func packed(_ index: Int) throws -> I420Buffer {
        let owner = Block(bytes.dropFirst(index * size.packedI420ByteCount).prefix(size.packedI420ByteCount))
        let chroma = size.chroma.width * size.chroma.height
        let luma = size.width * size.height
        let memory = unsafe UnsafeRawBufferPointer(owner.memory)
        return unsafe try I420Buffer(
            size: size, y: UnsafeRawBufferPointer(rebasing: memory[..<luma]),
            u: UnsafeRawBufferPointer(rebasing: memory[luma..<luma + chroma]),
            v: UnsafeRawBufferPointer(rebasing: memory[(luma + chroma)...]),
            strides: .init(y: size.width, u: size.chroma.width, v: size.chroma.width), owner: owner)
    }

    /// The owner of one packed picture.
    @safe private final class Block: Sendable {
        // Written only in `init`.
        nonisolated(unsafe) let memory: UnsafeMutableRawBufferPointer

        init(_ bytes: Data) {
            unsafe memory = .allocate(byteCount: bytes.count, alignment: 64)
            unsafe bytes.copyBytes(to: memory)
        }

        deinit { unsafe memory.deallocate() }
    }
}

extension Data {
    /// Whether all bytes are equal. A test that compares with `==` would print the differences, which takes minutes for
    /// pictures.
    public func isSame(as other: some DataProtocol) -> Bool { count == other.count && elementsEqual(other) }
}

extension I420Buffer {
    /// The planes without padding, one after another.
    public var packedBytes: Data {
        var data = Data(capacity: size.packedI420ByteCount)
        for plane in Plane.allCases {
            for index in 0..<I420Buffer.rows(of: plane, in: size).height {
                let row = row(index, of: plane)
                unsafe row.withUnsafeBytes { unsafe data.append(contentsOf: $0) }
            }
        }
        return data
    }
}
