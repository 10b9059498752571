import Glibc
import InletCore
import InletRTSP
import InletSystem

// Unsafe: owns a descriptor.
/// A capture read from a file, a piece at a time.
final class CaptureFile {
    private let descriptor: Int32
    private var reader = CaptureReader()
    private var piece = [UInt8](repeating: 0, count: 65_536)
    private var hasEnded = false
    /// The first line.
    let header: CaptureHeader
    /// The machine's time of day when the capture began, in nanoseconds since 1970.
    let started: Int64
    /// The captured machine's monotonic time when the capture began. Ticks are rounded relative to it.
    let origin: MonotonicTime

    /// Opens a regular file and reads its first line.
    ///
    /// - Throws: ``InletError/Code/malformedData`` if the file is not a capture; the error for the `errno`.
    init(_ path: String) throws(InletError) {
        guard !path.utf8.contains(0) else {
            throw InletError(.invalidConfiguration, "The path of a capture must not contain NUL.")
        }
        // Without O_NONBLOCK, opening a pipe without a writer would block.
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(errno, path) }
        do throws(InletError) {
            var facts = stat()
            guard unsafe fstat(descriptor, &facts) == 0 else { throw Self.failure(errno, path) }
            guard facts.st_mode & S_IFMT == S_IFREG else {
                throw InletError(.invalidConfiguration, "A capture must be a regular file.")
            }
            var first: CaptureHeader?
            while first == nil {
                let count = unsafe read(descriptor, &piece, piece.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw Self.failure(errno, path) }
                guard count > 0 else { throw CaptureError.notCapture.inletError }
                first = try Self.readHeader(&reader, piece[..<count])
            }
            header = first ?? CaptureHeader()
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        started = header["started"].flatMap { Int64($0) } ?? 0
        let origin = header["clock"].flatMap { Int64($0) } ?? 0
        self.origin = MonotonicTime(nanoseconds: (0...Int64.max / 2).contains(origin) ? origin : 0)
    }

    deinit { close(descriptor) }

    /// Returns the next record; nil at the end. A truncated record is ignored.
    func next() throws(InletError) -> CaptureRecord? {
        while true {
            do throws(CaptureError) {
                if let record = try reader.next() { return record }
            } catch {
                throw error.inletError
            }
            guard !hasEnded else { return nil }
            let count = unsafe read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(errno, "the capture") }
            hasEnded = count == 0
            reader.append(piece[..<count])
        }
    }

    private static func readHeader(
        _ reader: inout CaptureReader, _ bytes: ArraySlice<UInt8>
    ) throws(InletError) -> CaptureHeader? {
        do throws(CaptureError) {
            reader.append(bytes)
            return try reader.firstLine()
        } catch {
            throw error.inletError
        }
    }

    private static func failure(_ number: Int32, _ path: String) -> InletError {
        let context = InletError.Context(operation: "open", nativeCode: number)
        switch number {
        case ENOENT, ENOTDIR: return InletError(.notFound, "The file \(path) does not exist.", context: context)
        case EACCES, EPERM:
            return InletError(
                .permissionDenied, "Permission to read \(path) was denied. Check its owner and permissions.",
                context: context)
        default:
            return InletError(
                .inputOutput, "Cannot read \(path): \(SystemErrorText.of(number)).", context: context)
        }
    }
}
