import Glibc
import Inlet

// Unsafe: reads a shared-memory file.
private func systemOpen(_ path: String) -> Int32 { unsafe open(path, O_RDONLY | O_CLOEXEC) }
private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }

/// A source that reads the output of `shm:NAME` on this machine. It follows `Docs/reference/shared-memory.md`, but
/// reads the file instead of mapping it.
struct SharedMemoryReturn: FrameSourceConfiguration {
    var name: String

    var redactedURI: String { "shm:\(name)" }
    func makeSource() -> any FrameSource { Source(name) }

    private final class Source: FrameSource {
        /// The offsets of the segment's header.
        private enum Header { static let (start, slots, state, slotBytes, published) = (12, 16, 20, 24, 32) }
        /// The offsets of a slot's header.
        private enum Slot {
            static let (lock, sequence, timestamp, width, height) = (0, 16, 24, 56, 60)
            static let (strides, places) = (64, 80)
            static let bytes = 256
        }
        private static let interval = Duration.microseconds(500)
        private static let timeBase = Rational(1, 1_000_000_000)
        private static let planes: [I420Buffer.Plane] = [.y, .u, .v]

        private let name: String
        private var descriptor: Int32 = -1
        private var last: UInt64 = 0
        private var first: SourceFrame?

        init(_ name: String) { self.name = name }

        deinit { close() }

        func open(_ context: SourceContext) throws -> SourceFormat {
            while first == nil {
                if descriptor < 0 { openFile() }
                first = try read()
                if first == nil { try context.sleep(until: context.clock.now + Self.interval) }
            }
            return SourceFormat(
                size: first?.size ?? ImageSize(width: 0, height: 0), pixelFormat: .yuv420p,
                timeBase: Self.timeBase, pacing: .live, container: "shm")
        }

        /// Opens the file; if it does not exist yet, the next call may find it.
        private func openFile() { descriptor = systemOpen("/dev/shm/\(name)") }

        func next(_ context: SourceContext) throws -> SourceItem? {
            if let frame = first {
                first = nil
                return .frame(frame)
            }
            while true {
                if let frame = try read() { return .frame(frame) }
                guard descriptor >= 0 else { return nil }
                try context.sleep(until: context.clock.now + Self.interval)
            }
        }

        /// Returns the newest frame; nil if there is no newer one, or if it was overwritten during the read.
        private func read() throws(InletError) -> SourceFrame? {
            guard let header = bytes(64, at: 0), number(header, 0) == 0x4D48_5354_454C_4E49 else { return nil }
            let published = number(header, Header.published)
            guard published > last else {
                switch word(header, Header.state) {
                case 2: close()
                case 3:
                    close()
                    openFile()
                default: break
                }
                return nil
            }
            let slots = UInt64(max(1, word(header, Header.slots)))
            let start =
                UInt64(word(header, Header.start))
                &+ (published - 1) % slots &* number(header, Header.slotBytes)
            guard let place = Int(exactly: start), let slot = bytes(Slot.bytes, at: place),
                number(slot, Slot.lock) == 2 &* published
            else { return nil }
            let size = ImageSize(
                width: Int(word(slot, Slot.width)), height: Int(word(slot, Slot.height)))
            guard size.isValid, size.width <= 16_384, size.height <= 16_384,
                let picture = try picture(of: size, slot, at: place),
                let lock = bytes(8, at: place), number(lock, 0) == number(slot, Slot.lock)
            else { return nil }
            last = published
            let time = MonotonicTime(nanoseconds: Int64(bitPattern: number(slot, Slot.timestamp)))
            var frame = SourceFrame(
                picture, pts: MediaTime(ticks: time.nanoseconds, timeBase: Self.timeBase),
                sequence: number(slot, Slot.sequence))
            frame.captureTime = time
            return frame
        }

        private func picture(
            of size: ImageSize, _ slot: [UInt8], at start: Int
        ) throws(InletError) -> I420Buffer? {
            var draft = try I420Draft(size: size)
            for (index, plane) in Self.planes.enumerated() {
                let rows = plane == .y ? size : size.chroma
                let stride = Int(word(slot, Slot.strides + 4 * index))
                let own = draft.strides[plane]
                guard stride >= rows.width, let place = Int(exactly: number(slot, Slot.places + 8 * index)),
                    let bytes = bytes(stride * (rows.height - 1) + rows.width, at: start &+ place)
                else { return nil }
                var target = draft.mutableBytes(of: plane)
                for row in 0..<rows.height {
                    for column in 0..<rows.width {
                        target[row * own + column] = bytes[row * stride + column]
                    }
                }
            }
            return draft.publish()
        }

        /// Returns bytes of the file; nil if it is shorter.
        private func bytes(_ count: Int, at place: Int) -> [UInt8]? {
            guard descriptor >= 0, place >= 0, count > 0 else { return nil }
            var bytes = [UInt8](repeating: 0, count: count)
            let read = unsafe pread(descriptor, &bytes, count, off_t(place))
            return read == count ? bytes : nil
        }

        private func number(_ bytes: [UInt8], _ place: Int) -> UInt64 {
            UInt64(word(bytes, place)) | UInt64(word(bytes, place + 4)) << 32
        }

        private func word(_ bytes: [UInt8], _ place: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << (8 * UInt32($1)) }
        }

        func close() {
            if descriptor >= 0 { systemClose(descriptor) }
            descriptor = -1
        }
    }
}
