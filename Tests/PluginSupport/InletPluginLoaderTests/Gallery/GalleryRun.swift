import InletCapture
import InletCore
import InletPluginLoader
import Logging
import ReferenceTools

/// A run of a bad plug-in through the bridge, as in the command, but without another attempt.
struct GalleryRun {
    let row: GalleryRow
    /// How the run ended.
    private let result: Result<EndReason, InletError>
    /// Whether it was stopped because it took too long.
    private var isOverrun = false
    private var captured: UInt64 = 0
    private var abandonedThreads = 0
    /// The duration of the run.
    let duration: Duration

    /// The number of pictures that proves a plug-in continues: three good ones, and some more.
    private static let enough: UInt64 = 8
    /// The number of pictures to read from a plug-in whose end is not determined.
    private static let plenty: UInt64 = 50
    /// The time-out of calls that should exceed it. Longer than the buffer of ``SteadyCamera``.
    private static let shortTimeout = Duration.seconds(4)
    /// An upper bound for the time of a call on a busy machine.
    private static let longTimeout = Duration.seconds(60)
    /// The maximum time of a whole run.
    private static let limit = Duration.seconds(120)

    /// Runs a plug-in until it ends.
    ///
    /// - Parameter library: the path of the library.
    init(_ row: GalleryRow, library: String) async throws {
        self.row = row
        let capturer = Capturer(
            Self.source(row.name, library: library),
            configuration: .gallery(timeout: row.waitsForTimeout ? Self.shortTimeout : Self.longTimeout))
        capturer.attach(CountingSink(), named: "counter")
        let run = Task { () -> Result<EndReason, InletError> in
            do throws(InletError) { return .success(try await capturer.run()) } catch { return .failure(error) }
        }
        let start = ContinuousClock.now
        var isPaused = false
        while !capturer.state.isEnded {
            let (frames, time) = (capturer.statistics.captured, ContinuousClock.now - start)
            if row.place == .pause, frames > Self.enough, !isPaused {
                isPaused = true
                capturer.pause()
            }
            let isSeen =
                switch row.code {
                case "none": frames >= Self.enough
                case "any": frames >= Self.plenty || time > Self.shortTimeout
                default: false
                }
            isOverrun = time > Self.limit
            if isSeen || isOverrun { capturer.stop() }
            try await Task.sleep(for: .milliseconds(10))
        }
        duration = ContinuousClock.now - start
        result = await run.value
        let statistics = capturer.statistics
        (captured, abandonedThreads) = (statistics.captured, statistics.supervision.abandonedThreads)
    }

    /// Returns a source of a library in a child process with the whole sandbox, and without permissions.
    static func source(_ name: String, library: String) -> PluginSourceConfiguration {
        PluginSourceConfiguration(
            program: PluginProgram(name: name, code: .library(library), hostPath: BuiltProgram.plainPluginHost),
            scheme: "bad-\(name)", address: "", options: [], redactedURI: "bad-\(name):")
    }

    /// The deviation from the row; nil without a deviation.
    var complaint: String? {
        if abandonedThreads != 0 { return "\(row.name): \(abandonedThreads) threads were given up" }
        if isOverrun { return "\(row.name): did not end by itself, but with \(result)" }
        switch (row.code, result) {
        case ("any", _): return nil
        case ("none", .success(.cancelled)): return nil
        case (_, .success(let reason)): return "\(row.name): ended with \(reason), not with \(row.code)"
        case (row.code, .failure(let error)) where error.code.description == row.code:
            guard row.words.isEmpty || error.message.contains(row.words) else {
                return "\(row.name): '\(row.words)' is not in the message: \(error.message)"
            }
            let isWhereStated = row.place == .open ? captured == 0 : captured >= 3
            return isWhereStated ? nil : "\(row.name): \(captured) pictures came before \(row.place): \(error.message)"
        case (_, .failure(let error)):
            return "\(row.name): the error is \(error.code), not \(row.code): \(error.message)"
        }
    }
}

extension CapturerState {
    /// Whether the run is over.
    fileprivate var isEnded: Bool { if case .ended = self { true } else { false } }
}

extension CapturerConfiguration {
    /// A configuration without another attempt and without a log.
    static func gallery(timeout: Duration) -> CapturerConfiguration {
        var configuration = CapturerConfiguration()
        configuration.retry = .never
        configuration.timeouts.open = timeout
        configuration.timeouts.firstFrame = timeout
        configuration.timeouts.nextFrame = timeout
        configuration.stopTimeout = .seconds(60)
        configuration.logger = Logger(label: "gallery") { _ in SwiftLogNoOpLogHandler() }
        return configuration
    }
}
