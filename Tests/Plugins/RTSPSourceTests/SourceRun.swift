import FFmpegDecoder
import InletCore
import InletDigest
import Logging
import RTSPSource
import ReferenceTools
import Synchronization
import Testing

@testable import InletTesting

/// A source that a test drives call by call, each on the source's own thread and within a limit.
struct SourceRun {
    /// The source does not return from a call.
    struct Hung: Error {}

    private let runner: SourceRunner
    let log = LogRecord()

    /// Longer than any call that has its own time-outs.
    static let limit = Duration.seconds(20)

    /// - Parameters:
    ///   - decodes: whether the source yields pictures. The default, true, decodes with libavcodec; otherwise it yields
    ///     access units.
    ///   - limit: the maximum time of a call.
    ///   - clock: the source's clock. The default is the machine's.
    ///   - network: the network in which the source connects. The default, nil, is that of this process.
    init(
        _ configuration: RTSPConfiguration, decodes: Bool = true, limit: Duration = Self.limit,
        clock: any CaptureClock = RealClock(), network: NetworkNamespace? = nil
    ) {
        var source: any FrameSourceConfiguration = decodes ? configuration : AccessUnits(configuration: configuration)
        if let network { source = SourceElsewhere(configuration: source, network: network) }
        runner = SourceRunner(source, limit: limit, clock: clock, logger: log.logger)
    }

    /// - Parameter camera: a camera that is found by ONVIF.
    init(_ camera: ONVIFConfiguration, limit: Duration = Self.limit) {
        runner = SourceRunner(camera, limit: limit, logger: log.logger)
    }

    /// - Parameter capture: a capture of a session.
    init(_ capture: RTSPCaptureConfiguration, decodes: Bool = true, limit: Duration = Self.limit) {
        let source: any FrameSourceConfiguration = decodes ? capture : CapturedUnits(configuration: capture)
        runner = SourceRunner(source, limit: limit, logger: log.logger)
    }

    /// Opens the source.
    func open() async throws -> SourceFormat { try value(of: await runner.open()) }

    /// Returns the next picture or access unit; nil at the end.
    func next() async throws -> SourceItem? { try value(of: await runner.next()) }

    /// Pauses the source; returns false if it cannot.
    func pause() async throws -> Bool { try value(of: await runner.pause()) }

    /// Continues after a pause.
    func resume() async throws { try value(of: await runner.resume()) }

    /// The environment of the source.
    var context: SourceContext { runner.context }

    /// Closes the source.
    func close() async throws { try value(of: await runner.close()) }

    /// The source's RTP statistics.
    var reception: ReceptionFigures? { runner.context.reception }

    /// Cancels the source.
    func cancel() { runner.cancel() }

    /// Cancels the source after a while.
    func cancel(after time: Duration) async {
        try? await Task.sleep(for: time)
        runner.cancel()
    }

    /// The time that the last call continued after the cancellation, on the source's own thread.
    var timeAfterCancellation: Duration { runner.timeAfterCancellation }

    /// Opens the source, reads pictures and closes it.
    ///
    /// - Parameter count: the number of pictures to read; nil reads until the source fails.
    /// - Returns: the pictures' MD5s.
    func pictures(_ count: Int?) async throws -> [String] {
        var sums: [String] = []
        do {
            _ = try await open()
            while sums.count < count ?? .max, let frame = try await next()?.frame { sums.append(Self.sum(of: frame)) }
        } catch let error as InletError where count == nil && error.code == .timedOut {
            // The stream has ended.
        }
        try await close()
        return sums
    }

    /// Opens the source, which fails then or at one of the first items, and closes it.
    ///
    /// - Returns: the error.
    func failure(within items: Int = 100) async throws -> InletError? {
        var failure: InletError?
        do {
            _ = try await open()
            for _ in 0..<items where try await next() == nil { break }
        } catch let error as InletError {
            failure = error
        }
        try await close()
        return failure
    }

    private func value<Value>(of outcome: SourceRunner.Outcome<Value>) throws -> Value {
        switch outcome {
        case .returned(let value): return value
        case .threw(let error, let isTyped):
            #expect(isTyped, "\(error)")
            throw error
        case .hung: throw Hung()
        }
    }

    /// The MD5 of a picture's planes without their padding, as in ffmpeg's framemd5.
    static func sum(of frame: SourceFrame) -> String {
        var bytes: [UInt8] = []
        let chroma = frame.size.chroma
        for (index, rows) in [frame.size, chroma, chroma].enumerated() {
            guard frame.pixelFormat.isI420, let plane = frame.planes[index],
                plane.holds(rows: rows.height, of: rows.width), let top = unsafe plane.topRow
            else { return "not planar 4:2:0" }
            for row in 0..<rows.height {
                unsafe bytes += UnsafeRawBufferPointer(start: top + row * plane.stride, count: rows.width)
            }
        }
        return withExtendedLifetime(frame.owner) {
            MessageDigest.md5.hash(bytes).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        }
    }
}

/// The access units of a source, for a runner that makes sources of pictures.
private struct AccessUnits: FrameSourceConfiguration {
    var configuration: RTSPConfiguration
    var redactedURI: String { configuration.redactedURI }
    func makeSource() -> any FrameSource { configuration.makePacketSource() }
}

/// The access units of a capture.
private struct CapturedUnits: FrameSourceConfiguration {
    var configuration: RTSPCaptureConfiguration
    var redactedURI: String { configuration.redactedURI }
    func makeSource() -> any FrameSource { configuration.makePacketSource() }
}

/// The log lines of a source, at all levels.
final class LogRecord: Sendable {
    private let lines = Mutex<[String]>([])

    /// The lines so far.
    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    var logger: Logger {
        var logger = Logger(label: "test") { [self] _ in Handler(record: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let record: LogRecord
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            record.lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
        }
    }
}

extension RTSPConfiguration {
    /// The configuration of a test: decodes with libavcodec, and drops nothing when the machine is slow.
    static func test(_ url: String, _ change: (inout RTSPConfiguration) -> Void = { _ in }) -> RTSPConfiguration {
        var configuration = RTSPConfiguration(url: url)
        configuration.decoders = [.ffmpeg]
        configuration.maximumLag = .zero
        change(&configuration)
        return configuration
    }
}
