/// Headless Chromium that opens a page of `whip:`, of calls or of the tests, with a camera that shows the pictures of
/// `pattern:timecode`.
public final class CameraBrowser: Sendable {
    /// The content of the page.
    public struct Look: Sendable, Hashable {
        /// The state, in one or two words.
        public var state: String
        /// An error, or an instruction to the user; empty if there is no error.
        public var trouble: String
        /// The names of the cameras.
        public var cameras: [String]
        /// The width of the page in pixels.
        public var width: Int
        /// Whether the picture is hidden.
        public var isHidden: Bool
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The number of pictures after which the camera starts over.
    public static let frames = 150

    /// The microseconds from one picture of the camera to the next.
    private static let period = 33_333

    /// Returns a description of the camera's pictures that were not read and of those that the receiver delivered
    /// twice.
    ///
    /// The camera may yield a picture twice, and yields the first one of its file twice in each round (Y4mFileParser
    /// does not continue after the end of the file). Chromium then sends it twice, at least a millisecond apart. If the
    /// receiver delivers a picture twice, both copies have the same RTP timestamp, so their times differ by a tick at
    /// most. If the second copy replaces a lost picture, the numbers grow faster than the camera's period allows.
    ///
    /// - Parameters:
    ///   - numbers: the number in each picture; nil for one that was not read.
    ///   - times: the sender's time of each picture, in microseconds.
    public static func mistakes(in numbers: [Int?], at times: [Int]) -> [String] {
        numbers.indices.compactMap { place in
            guard let number = numbers[place] else { return "\(place): not read" }
            guard place > 0, numbers[place - 1] == number else { return nil }
            var isOurs = (0..<900).contains(times[place] - times[place - 1])
            if number > 0, place + 1 < numbers.count, let next = numbers[place + 1] {
                let steps = (next + frames - number) % frames
                isOurs = isOurs || steps > 1 && steps * period > times[place + 1] - times[place] + period / 2
            }
            guard isOurs else { return nil }
            let near = max(0, place - 2)..<min(place + 3, numbers.count)
            return "\(place): twice, of \(near.map { "\(numbers[$0].map(String.init) ?? "-") at \(times[$0]) us" })"
        }
    }

    /// The reason why this browser cannot run here; nil if it can.
    public static let missing = PeerProcess.missing(programs: ["chromedriver"])

    /// The address of the served page; nil if no page is served.
    public var page: String? { process.ready["page"]?.text }

    /// - Parameters:
    ///   - page: a page of `Tests/Peers` to serve. The default is nil: no page.
    ///   - flags: additional flags for the browser. The default is an empty list.
    /// - Throws: ``PeerProcess/Failure``.
    public init(page: String? = nil, flags: [String] = []) throws {
        process = try PeerProcess(
            "camera-browser.py",
            ["--frames", "\(Self.frames)"] + (page.map { ["--page", $0] } ?? []) + flags.map { "--flag=\($0)" },
            readyWithin: .seconds(60))
    }

    /// Starts a browser, and opens a page.
    ///
    /// - Parameter isRefused: whether the browser denies the page access to the camera. The default is false.
    public func open(_ url: String, isRefused: Bool = false) throws {
        _ = try process.send("open", ["url": .string(url), "isRefused": .bool(isRefused)], within: .seconds(60))
    }

    /// Presses Start.
    public func start() throws { _ = try process.send("start", within: .seconds(30)) }

    /// Clicks the element with an identifier.
    public func press(_ element: String) throws {
        _ = try process.send("press", ["element": .string(element)], within: .seconds(30))
    }

    /// Selects a value in a list.
    public func choose(_ value: String, of element: String) throws {
        _ = try process.send(
            "choose", ["element": .string(element), "value": .string(value)], within: .seconds(30))
    }

    /// Runs a script in the page and returns its result.
    public func evaluate(_ script: String) throws -> PeerValue {
        try process.send("evaluate", ["script": .string(script)], within: .seconds(30))["value"] ?? .null
    }

    /// Returns the size of a video element's pictures, such as `640x480`, and the frame number of `pattern:timecode` in
    /// the current picture; nil if the picture contains no number.
    public func read(_ element: String) throws -> (size: String?, number: Int?) {
        let answer = try process.send("read", ["element": .string(element)], within: .seconds(30))
        return (answer["size"]?.text, answer["number"]?.int)
    }

    /// Returns the current content of the page.
    public func look() throws -> Look {
        let answer = try process.send("look", within: .seconds(30))
        var cameras: [String] = []
        if case .list(let names)? = answer["cameras"] { cameras = names.map(\.text) }
        return Look(
            state: answer["state"]?.text ?? "", trouble: answer["trouble"]?.text ?? "", cameras: cameras,
            width: answer["width"]?.int ?? 0, isHidden: answer["isHidden"] == .bool(true))
    }

    /// Writes a screenshot of the page as PNG.
    public func screenshot(to path: String) throws {
        _ = try process.send("screenshot", ["path": .string(path)], within: .seconds(30))
    }

    /// Kills the browser, like a crash.
    public func kill() throws { _ = try process.send("kill", within: .seconds(30)) }

    /// Ends the browser and its server.
    public func stop() { process.stop() }
}
