import InletCapture
import InletCore
import InletHTTPServer
import InletSystem
import NIOHTTP1

/// The first thing a camera sends that a client waits for.
enum AwaitedMedia: Sendable {
    case picture
    case keyFrame
    /// A segment, which lasts from one key frame to the next.
    case segment

    /// How long a client waits for a camera with frequent key frames.
    private var usualLimit: Duration { self == .segment ? .seconds(20) : .seconds(8) }

    /// The longest time that a client waits.
    static let longestLimit = Duration.seconds(70)

    /// Returns how long a client waits, including the time to the next key frame.
    ///
    /// - Parameter interval: the time between the camera's key frames, if known.
    func limit(_ interval: Duration?) -> Duration {
        let needed = interval.map { $0 * (self == .segment ? 2 : 1) + .seconds(2) } ?? .zero
        return min(max(usualLimit, needed), Self.longestLimit)
    }

    /// Returns a sentence that names what did not arrive.
    func absence(within limit: Duration, interval: Duration?) -> String {
        let what =
            switch self {
            case .picture: "no picture"
            case .keyFrame: "no key frame"
            case .segment: "no second key frame"
            }
        let sentence = "The camera sent \(what) within \(limit.components.seconds) seconds."
        guard let interval, interval > .seconds(4) else { return sentence }
        let seconds = interval.components.seconds
        return "\(sentence) Its key frames are \(seconds) seconds apart: set a shorter interval in the camera."
    }
}

extension ServeResponder {
    /// The time between two checks of a camera that a client waits for.
    private static let lookInterval = Duration.milliseconds(250)

    /// Waits until it is certain that a camera sends nothing to a client. Returns immediately if the camera cannot be
    /// opened, with the last error; otherwise after a time that includes the camera's next key frame.
    ///
    /// - Returns: the answer with the reason. The camera is at fault and not the daemon, so the status is below 500.
    func absence(of awaited: AwaitedMedia, from name: String) async -> HTTPAnswer {
        let start = MonotonicTime.now
        while !Task.isCancelled {
            guard let camera = await camera(name) else { return .noCamera(name) }
            if let obstacle = await camera.status.obstacle { return .problem(.conflict, obstacle) }
            let interval = camera.media.hub.keyFrameInterval
            let limit = awaited.limit(interval)
            let left = start + limit - MonotonicTime.now
            guard left > .zero else { return .problem(.conflict, awaited.absence(within: limit, interval: interval)) }
            try? await Task.sleep(for: min(left, Self.lookInterval))
        }
        return .problem(.conflict, "The client has gone.")
    }
}

extension SupervisedCamera {
    /// The most time that a viewer waits for the camera to open.
    private static let openingLimit = Duration.seconds(9)

    /// Waits until the camera is open.
    ///
    /// - Throws: the reason why the camera cannot be opened. It is not an error if opening takes longer than a viewer
    ///   waits.
    func waitUntilOpen() async throws(InletError) {
        // A placeholder counts as a picture.
        guard settings.policies.outage == .nothing else { return }
        let end = MonotonicTime.now + Self.openingLimit
        while !Task.isCancelled, MonotonicTime.now < end {
            let status = status
            if let obstacle = status.obstacle { throw InletError(.busy, obstacle) }
            guard [.idle, .opening, .unwatched].contains(status.phase) else { return }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }
}
