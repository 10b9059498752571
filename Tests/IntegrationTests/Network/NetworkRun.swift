import Foundation
import Inlet
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing

/// A run of a network source into a sink that reads timecodes.
final class NetworkRun: Sendable {
    let capturer: Capturer
    let log = TimecodeSink.Log()
    private let seen = Mutex<[CapturerEvent]>([])

    /// - Parameters:
    ///   - uri: as on a command line.
    ///   - comparedRate: the pictures per second of a server with whose drawings each picture is compared.
    convenience init(
        _ uri: String, frames: UInt64? = nil, queue: QueuePolicy = .lossless(64), retry: RetryPolicy = .never,
        comparedRate: Int? = nil
    ) throws {
        self.init(
            try PluginRegistry.trusting.source(uri), frames: frames, queue: queue, retry: retry,
            comparedRate: comparedRate)
    }

    init(
        _ source: any FrameSourceConfiguration, frames: UInt64? = nil, queue: QueuePolicy = .lossless(64),
        retry: RetryPolicy = .never, comparedRate: Int? = nil
    ) {
        var configuration = CapturerConfiguration()
        configuration.retry = retry
        configuration.frameLimit = frames
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        capturer = Capturer(source, configuration: configuration)
        capturer.attach(TimecodeSink(log, comparedRate: comparedRate), queue: queue)
    }

    /// The run retries after a twentieth of a second.
    static var quickRetry: RetryPolicy {
        var policy = RetryPolicy()
        policy.firstDelay = .milliseconds(50)
        policy.maximumDelay = .milliseconds(200)
        return policy
    }

    var events: [CapturerEvent] { seen.withLock { $0 } }

    /// The errors of the source, in order.
    var failures: [InletError] {
        events.compactMap { if case .sourceFailed(let error, _) = $0 { error } else { nil } }
    }

    /// Runs to the end.
    ///
    /// - Parameter meanwhile: changes the run or its server. If it is given, the run is stopped afterwards.
    func play(
        _ meanwhile: ((NetworkRun) async throws -> Void)? = nil
    ) async throws -> Result<EndReason, InletError> {
        let events = capturer.events
        async let watched: Void = {
            for await event in events { seen.withLock { $0.append(event) } }
        }()
        async let result: Result<EndReason, InletError> = {
            do throws(InletError) { return .success(try await capturer.run()) } catch { return .failure(error) }
        }()
        if let meanwhile {
            do { try await meanwhile(self) } catch {
                capturer.stop()
                _ = await result
                throw error
            }
            capturer.stop()
        }
        let outcome = await result
        await watched
        return outcome
    }

    /// Waits until there are more than `count` frames.
    func frames(beyond count: Int) async throws {
        try await until("more than \(count) frames") { $0.log.readings.count > count }
    }

    /// Waits for a state, as long as pictures, drops or openings arrive.
    func until(_ what: String, _ isSo: (NetworkRun) -> Bool) async throws {
        try await Waiting.until(what, progress: { Progress(self) }) { isSo(self) }
    }

    /// The readings so far.
    private struct Progress: Equatable {
        var pictures: Int
        var drops: [DropReason: UInt64]
        var openings: UInt64

        init(_ run: NetworkRun) {
            pictures = run.log.readings.count
            (drops, openings) = (run.capturer.statistics.drops, run.capturer.statistics.supervision.openings)
        }
    }
}

extension PluginRegistry {
    /// The standard registry, for addresses that may name files and environment variables, as on a command line.
    static let trusting: PluginRegistry = {
        var registry = PluginRegistry.standard
        registry.localAccess = .system
        return registry
    }()
}

/// Expects that all readings are readable, in order, on an increasing timeline.
func expectWhole(_ readings: [TimecodeSink.Reading], _ sourceLocation: SourceLocation = #_sourceLocation) {
    let numbers = readings.compactMap(\.number)
    #expect(numbers.count == readings.count, "unreadable pictures", sourceLocation: sourceLocation)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "order", sourceLocation: sourceLocation)
    let times = readings.map(\.timestamp)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "timestamps", sourceLocation: sourceLocation)
}
