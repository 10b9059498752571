import InletCapture
import InletCore
import ReferenceTools
import Synchronization

/// A source that runs in this process for as long as others go wrong, into a sink that counts.
final class HealthySource: Sendable {
    private let capturer: Capturer
    private let count: CountingSink.Count
    private let run: Task<Result<EndReason, InletError>, Never>

    /// Starts a source, whose sink makes it wait rather than lose frames.
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

    /// How many frames have come.
    var frames: Int { count.frames.load(ordering: .acquiring) }

    /// Waits until further frames have come.
    func goesOn() async throws {
        let seen = frames
        try await Waiting.until("a frame of \(capturer.sourceName)", progress: { 0 }) { frames > seen + 2 }
    }

    /// Stops the source.
    ///
    /// - Returns: what was wrong with it.
    func stop() async -> [String] {
        capturer.stop()
        let result = await run.value
        let (name, statistics) = (capturer.sourceName, capturer.statistics)
        var complaints: [String] = []
        if case .failure(let error) = result { complaints.append("\(name) failed: \(error)") }
        if count.gaps.load(ordering: .acquiring) != 0 {
            complaints.append("\(name) has \(count.gaps.load(ordering: .acquiring)) gaps in \(frames) frames")
        }
        // What was queued when it was stopped is no loss.
        let drops = statistics.drops.filter { $0.key != .cancelled }
        if !drops.isEmpty { complaints.append("\(name) has dropped frames: \(drops)") }
        if statistics.supervision.openings != 1 {
            complaints.append("\(name) was opened \(statistics.supervision.openings) times")
        }
        return complaints
    }
}
