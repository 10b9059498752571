import Dispatch
import Foundation
import Glibc
import InletCore
import InletOutput
import ReferenceTools
import Synchronization
import Testing

@testable import FileSinks

/// Outputs that are missing, full or closed.
@Suite(.blocking) struct OutputFileTests {
    static let size = ImageSize(width: 160, height: 120)
    static let makers: [@Sendable (String) -> any FrameSinkConfiguration] = [
        { I420SinkConfiguration(path: $0) }, { Y4MSinkConfiguration(path: $0) },
        { FrameMD5SinkConfiguration(path: $0) },
    ]

    /// The error of a run that writes five frames to a path, and the failed call.
    private func failure(_ make: @Sendable (String) -> any FrameSinkConfiguration, _ path: String) throws -> InletError?
    {
        #expect(throws: InletError.self) {
            try SinkRun.write(
                Array(repeating: SinkRun.gray(Self.size), count: 5), to: make(path), format: SinkRun.format(Self.size))
        }
    }

    @Test("an output that cannot be opened is an error that names it", arguments: 0..<makers.count)
    func unopenable(maker: Int) throws {
        let folder = try TemporaryFolder()
        let make = Self.makers[maker]
        let missing = try failure(make, folder.path("missing/out"))
        #expect(missing?.code == .notFound)
        #expect(missing?.description.contains("missing/out") == true)
        #expect(missing?.context.nativeCode == ENOENT)
        #expect(missing?.context.operation == "open")
        #expect(try failure(make, folder.path(""))?.code == .invalidConfiguration)
        let plain = folder.path("plain")
        try Data().write(to: URL(fileURLWithPath: plain))
        #expect(try failure(make, plain + "/out")?.code == .notFound)
    }

    @Test("a named pipe without a reader is an error and does not block", arguments: 0..<makers.count)
    func pipeWithoutReader(maker: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("pipe")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let error = try failure(Self.makers[maker], path)
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("start the reader first") == true)
    }

    @Test("a full disk is a clear error", arguments: 0..<makers.count)
    func fullDisk(maker: Int) throws {
        let error = try failure(Self.makers[maker], "/dev/full")
        #expect(error?.code == .resourceExhausted)
        #expect(error?.context.nativeCode == ENOSPC)
        #expect(error?.message.contains("disk is full") == true)
    }

    @Test("a file that cannot grow ends with its last complete frame, and nothing kills the process")
    func lastCompleteFrame() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out.y4m")
        // A child process with a limit on file sizes. At the limit, the system raises a signal and writes a part of the
        // frame.
        await #expect(processExitsWith: .success) { [path = path as String] in
            let header = "YUV4MPEG2 W160 H120 F30000:1001 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=LIMITED\n"
            let frame = "FRAME\n".utf8.count + OutputFileTests.size.packedI420ByteCount
            var limit = rlimit()
            limit.rlim_cur = rlim_t(header.utf8.count + 3 * frame + frame / 2)
            limit.rlim_max = limit.rlim_cur
            try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let sink = Y4MSinkConfiguration(path: path).makeSink()
            try sink.start(SinkRun.format(OutputFileTests.size), SinkContext())
            for index in 0..<3 { try sink.consume(SinkRun.frame(SinkRun.gray(OutputFileTests.size), index)) }
            let error = #expect(throws: InletError.self) {
                try sink.consume(SinkRun.frame(SinkRun.gray(OutputFileTests.size), 3))
            }
            #expect(error?.code == .resourceExhausted)
            #expect(error?.context.sequence == 3)
            try sink.finish()
            #expect(try SinkRun.contents(path).count == header.utf8.count + 3 * frame)
        }
    }

    @Test("a closed reader stops the sink, and no signal kills the process")
    func lostReader() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            let folder = try TemporaryFolder()
            let path = folder.path("pipe")
            try #require(unsafe mkfifo(path, 0o600) == 0)
            let reader = unsafe open(path, O_RDONLY | O_NONBLOCK)
            let sink = I420SinkConfiguration(path: path).makeSink()
            try sink.start(SinkRun.format(OutputFileTests.size), SinkContext())
            try sink.consume(SinkRun.frame(SinkRun.gray(OutputFileTests.size), 0))
            close(reader)
            #expect(throws: SinkStopped.self) {
                try sink.consume(SinkRun.frame(SinkRun.gray(OutputFileTests.size), 1))
            }
            try sink.finish()
            // The signal was consumed, and cannot arrive later.
            var pending = sigset_t()
            unsafe sigpending(&pending)
            #expect(unsafe sigismember(&pending, SIGPIPE) == 0)
        }
    }

    @Test("a non-blocking pipe that takes frames in parts receives them completely")
    func shortWrites() async throws {
        await #expect(processExitsWith: .success) {
            let size = ImageSize(width: 641, height: 479)
            let reference = try ReferencePictures(
                lavfi: "testsrc2=size=642x480,crop=641:479:exact=1", size: size, frames: 4)
            let pipe = Pipe()
            let writeEnd = pipe.fileHandleForWriting.fileDescriptor
            _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
            let standardOutput = dup(STDOUT_FILENO)
            dup2(writeEnd, STDOUT_FILENO)
            close(writeEnd)
            // A pipe that is full at first: the sink must wait for the reader, which starts later.
            var filled = 0
            let byte: [UInt8] = [0]
            while unsafe write(STDOUT_FILENO, byte, 1) == 1 { filled += 1 }
            try #require(filled > 0)
            let pictures = try (0..<4).map { try $0 % 2 == 0 ? reference.packed($0) : reference.padded($0) }
            let queue = DispatchQueue(label: "reader")
            let received = Mutex(Data())
            queue.async { received.withLock { $0 = pipe.fileHandleForReading.readDataToEndOfFile() } }
            try SinkRun.write(
                pictures, to: I420SinkConfiguration(path: "-"), format: SinkRun.format(size))
            // This closes the last write end, so that the reader reaches the end.
            dup2(standardOutput, STDOUT_FILENO)
            queue.sync {}
            #expect(received.withLock { $0.dropFirst(filled).isSame(as: reference.bytes) })
        }
    }

    @Test("frames are appended to standard output's content, and only whole ones remain")
    func standardOutput() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out")
        for flags in [O_APPEND, 0] {
            try Data("before".utf8).write(to: URL(fileURLWithPath: path))
            await #expect(processExitsWith: .success) { [path = path as String, flags = flags as Int32] in
                let file = unsafe open(path, O_WRONLY | flags)
                try #require(file >= 0)
                lseek(file, 0, SEEK_END)
                dup2(file, STDOUT_FILENO)
                var limit = rlimit()
                limit.rlim_cur = rlim_t(6 + OutputFileTests.size.packedI420ByteCount * 3 / 2)
                limit.rlim_max = limit.rlim_cur
                try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                let sink = I420SinkConfiguration(path: "-").makeSink()
                try sink.start(SinkRun.format(OutputFileTests.size), SinkContext())
                try sink.consume(SinkRun.frame(SinkRun.gray(OutputFileTests.size), 0))
                #expect(throws: InletError.self) {
                    try sink.consume(SinkRun.frame(SinkRun.gray(OutputFileTests.size), 1))
                }
                try sink.finish()
                // Standard output is still open, and positioned for the next writer.
                #expect(lseek(STDOUT_FILENO, 0, SEEK_CUR) == 6 + OutputFileTests.size.packedI420ByteCount)
                let contents = try SinkRun.contents(path)
                #expect(contents.count == 6 + OutputFileTests.size.packedI420ByteCount)
                #expect(contents.prefix(6) == Data("before".utf8))
            }
        }
    }

    @Test(
        "each errno has a useful code and advice",
        arguments: [
            (ENOENT, InletError.Code.notFound), (ENOTDIR, .notFound), (ENXIO, .notFound), (EBADF, .notFound),
            (EACCES, .permissionDenied), (EPERM, .permissionDenied), (EROFS, .permissionDenied),
            (EISDIR, .invalidConfiguration), (ENAMETOOLONG, .invalidConfiguration), (ELOOP, .invalidConfiguration),
            (ENOSPC, .resourceExhausted), (EDQUOT, .resourceExhausted), (EFBIG, .resourceExhausted),
            (EMFILE, .resourceExhausted), (ENOMEM, .resourceExhausted), (ETXTBSY, .busy), (EPIPE, .disconnected),
            (EIO, .inputOutput), (ENOSYS, .inputOutput),
        ])
    func errnos(number: Int32, code: InletError.Code) {
        let error = InletError(errno: number, operation: "write", path: "/some/file")
        #expect(error.code == code)
        #expect(error.context.nativeCode == number)
        #expect(error.message.hasPrefix("Cannot write /some/file: "))
    }
}
