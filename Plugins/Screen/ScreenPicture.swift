import CXCB
import Glibc
import InletCore
import InletSystem
import Synchronization

/// A bounded set of pictures into which an X server draws the screen. Safe from any thread: a picture returns when
/// its last owner releases it, which may be after the source has closed.
final class ScreenPictures: Sendable {
    private let capacity: Int
    private let state = Mutex(State())

    private struct State {
        var idle: [ScreenPicture] = []
        var count = 0
    }

    init(capacity: Int) { self.capacity = capacity }

    /// Returns a picture that is not in use; nil if all are in use.
    ///
    /// - Parameter make: allocates a picture if there are fewer than the limit.
    func take(_ make: () throws(InletError) -> ScreenPicture) throws(InletError) -> ScreenLease? {
        let (idle, mayMake) = state.withLock { state -> (ScreenPicture?, Bool) in
            if let idle = state.idle.popLast() { return (idle, false) }
            guard state.count < capacity else { return (nil, false) }
            state.count += 1
            return (nil, true)
        }
        if let idle { return ScreenLease(idle, from: self) }
        guard mayMake else { return nil }
        do throws(InletError) {
            return ScreenLease(try make(), from: self)
        } catch {
            state.withLock { $0.count -= 1 }
            throw error
        }
    }

    fileprivate func giveBack(_ picture: ScreenPicture) { state.withLock { $0.idle.append(picture) } }
}

/// Keeps a frame's picture, which returns to its set when the frame's last owner releases it.
final class ScreenLease: Sendable {
    let picture: ScreenPicture
    private let pictures: ScreenPictures

    fileprivate init(_ picture: ScreenPicture, from pictures: ScreenPictures) {
        self.picture = picture
        self.pictures = pictures
    }

    deinit { pictures.giveBack(picture) }
}

// Unsafe: owns memory that an X server shares.
/// Memory that an X server shares.
///
/// `@unchecked Sendable`: the server and the source's thread write it before a frame refers to it; after that,
/// frames only read it.
@safe final class ScreenPicture: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer
    /// The server's identifier of the memory.
    let segment: UInt32
    /// The request that registered the memory with the server.
    let request: UInt32

    /// See InletConvert's README: planes with 64 bytes after them need no second pass.
    private static let readAhead = 64

    /// Allocates memory and registers it with a server.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system has no memory.
    @unsafe init(byteCount: Int, on connection: OpaquePointer) throws(InletError) {
        let size = byteCount + Self.readAhead
        let descriptor = inlet_xcb_make_memory(UInt64(size))
        let mapped =
            descriptor < 0
            ? nil : unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else {
            let code = errno
            if descriptor >= 0 { close(descriptor) }
            throw InletError(
                .resourceExhausted,
                "Cannot allocate memory for pictures of the screen: \(SystemErrorText.of(code)). Use fewer buffers.",
                context: .init(operation: "mmap", nativeCode: code))
        }
        unsafe memory = UnsafeMutableRawBufferPointer(start: mapped, count: byteCount)
        var segment: UInt32 = 0
        // libxcb closes the descriptor when it has sent it.
        request = unsafe inlet_xcb_attach(connection, descriptor, &segment)
        self.segment = segment
    }

    deinit { unsafe munmap(memory.baseAddress, memory.count + Self.readAhead) }

    /// The picture as a plane of a frame, which must hold the lease.
    func plane(stride: Int) -> SourcePlane { unsafe SourcePlane(UnsafeRawBufferPointer(memory), stride: stride) }

    /// Draws the pointer into a picture with 32 bits per pixel.
    ///
    /// - Parameter rect: the part of the screen that the picture shows.
    func draw(_ pointer: PointerPicture, in rect: ImageRect, stride: Int) {
        let first = max(rect.y, pointer.y)
        let end = min(rect.y + rect.size.height, pointer.y + pointer.size.height)
        for line in first..<max(first, end) {
            let start = (line - rect.y) * stride
            guard unsafe start + rect.size.width * 4 <= memory.count else { return }
            let pixels = unsafe UnsafeMutableRawBufferPointer(
                rebasing: memory[start..<(start + rect.size.width * 4)]
            ).bindMemory(to: UInt32.self)
            var row = unsafe MutableSpan(_unsafeElements: pixels)
            pointer.draw(over: &row, line: line, left: rect.x)
        }
    }
}
