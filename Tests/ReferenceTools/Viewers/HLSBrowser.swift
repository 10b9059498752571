/// Headless Chromium that plays a live HLS playlist natively, in a plain `<video>`.
public final class HLSBrowser: Sendable {
    /// The state of the page at a moment.
    public struct Look: Sendable, Hashable {
        /// The playback position.
        public var seconds: Double
        /// The width of the picture; 0 before the first picture.
        public var width: Int
        /// A sum of the picture's pixels, read through a canvas.
        public var pixels: Int
        /// The number of times that the player failed and the page reloaded.
        public var reloads: Int
        /// The reason for the last failure.
        public var trouble: String
    }

    /// The process, for its log.
    public let process: PeerProcess

    /// Opens a page with the playlist and starts to play.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public init(playlist: String) throws {
        process = try PeerProcess("hls-browser.py", ["--playlist", playlist], readyWithin: .seconds(60))
    }

    /// The reason why this browser cannot run here; nil if it can.
    public static let missing = PeerProcess.missing(programs: ["chromedriver"])

    /// Returns the current state of the page.
    public func look() throws -> Look {
        let answer = try process.send("look", within: .seconds(30))
        guard case .number(let seconds)? = answer["seconds"] else {
            throw PeerProcess.Failure(description: "the page has no player: \(process.log)")
        }
        return Look(
            seconds: seconds, width: answer["width"]?.int ?? 0, pixels: answer["pixels"]?.int ?? 0,
            reloads: answer["reloads"]?.int ?? 0, trouble: answer["trouble"]?.text ?? "")
    }
}
