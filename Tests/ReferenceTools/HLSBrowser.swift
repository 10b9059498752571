/// Headless Chromium that plays a live HLS playlist by itself, in a plain `<video>`.
public final class HLSBrowser: Sendable {
    /// What the page shows at a moment.
    public struct Look: Sendable, Hashable {
        /// The player's time.
        public var seconds: Double
        /// Of the picture; 0 before the first.
        public var width: Int
        /// A sum of the picture's pixels, as a canvas tells them.
        public var pixels: Int
        /// How often the player gave up and the page began anew.
        public var reloads: Int
        /// Why it last gave up.
        public var trouble: String
    }

    /// The process, for its log.
    public let process: PeerProcess

    /// Opens a page with the playlist and begins to play.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public init(playlist: String) throws {
        process = try PeerProcess("hls-browser.py", ["--playlist", playlist], readyWithin: .seconds(60))
    }

    /// Why this browser cannot run here; nil where it can.
    public static let missing = PeerProcess.missing(programs: ["chromedriver"])

    /// Looks at the page.
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
