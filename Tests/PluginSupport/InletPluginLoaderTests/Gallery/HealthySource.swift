import InletCapture
import InletCore
import ReferenceTools
import Synchronization

/// A source that runs in this process while others fail, with a sink that counts.
final class HealthySource: Sendable {
    private let capturer: Capturer
    private let count: CountingSink.Count
    private let run: Task<Result<EndReason, InletError>, Never>

    /// Starts a source whose sink makes it wait instead of losing frames.
    init(_ source: any FrameSourceConfiguration) {
        let capturer = Capturer(source, configuration: .gallery(timeout: .seconds(60)))
        let sink = CountingSink()
        count = sink.count
        capturer.attach(sink, named: "healthy", queue: .lossless())
        self.capturer = capturer
        run = Task {
            do throws(InletError) { return .success(try await capturer.run()) } catch { return .failure(error) }
        }
    }

    /// The number of received frames.
    var frames: Int { count.frames.load(ordering: .acquiring) }

    /// Waits for further frames.
    func goesOn() async throws {
        let seen = frames
        try await Waiting.until("a frame of \(capturer.sourceName)", progress: { 0 }) { frames > seen + 2 }
    }

    /// Stops the source.
    ///
    /// - Returns: the errors that were found.
    func stop() async -> [String] {
        capturer.stop()
        let result = await run.value
        let (name, statistics) = (capturer.sourceName, capturer.statistics)
        var complaints: [String] = []
        if case .failure(let error) = result { complaints.append("\(name) failed: \(error)") }
        if count.gaps.load(ordering: .acquiring) != 0 {
            complaints.append("\(name) has \(count.gaps.load(ordering: .acquiring)) gaps in \(frames) frames")
        }
        // Frames queued when it was stopped don't count as lost.
        let drops = statistics.drops.filter { $0.key != .cancelled }
        if !drops.isEmpty { complaints.append("\(name) has dropped frames: \(drops)") }
        if statistics.supervision.openings != 1 {
            complaints.append("\(name) was opened \(statistics.supervision.openings) times")
        }
        return complaints
    }
}
