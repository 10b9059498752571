/// Xvfb, an X server without a screen, with programs that draw on it: xwud and ffplay.
public final class VirtualScreen: Sendable {
    /// The process, for its log.
    public let process: PeerProcess
    /// The display, such as `:1`.
    public let display: String

    /// Starts a server and waits until it is there.
    ///
    /// - Parameters:
    ///   - size: the screen's, such as `640x480`.
    ///   - depth: the bits of a pixel's colours.
    ///   - missing: an extension that the server is not to have, by the name that Xvfb has for it.
    /// - Throws: ``PeerProcess/Failure``.
    public init(size: String = "640x480", depth: Int = 24, without missing: String? = nil) throws {
        process = try PeerProcess(
            "x-server.py", ["--size", size, "--depth", "\(depth)"] + (missing.map { ["--without", $0] } ?? []))
        display = process.ready["display"]?.text ?? ""
    }

    /// Shows an XWD file in the upper left corner.
    public func show(_ path: String) throws { try process.send("show", ["path": .string(path)]) }

    /// Shows live timecode pictures in the upper left corner.
    public func play(size: String, framesPerSecond: Int) throws {
        try process.send("play", ["size": .string(size), "fps": .number(Double(framesPerSecond))])
    }

    /// Shows one timecode picture in the upper left corner. The player, which the first starts, needs a few pictures to
    /// begin.
    public func draw(_ number: UInt32, size: String) throws {
        try process.send("draw", ["size": .string(size), "number": .number(Double(number))])
    }

    /// Has the live picture stand still.
    public func pause() throws { try process.send("pause") }

    /// Ends what is shown.
    public func clear() throws { try process.send("clear") }

    /// Moves the pointer.
    public func movePointer(x: Int, y: Int) throws {
        try process.send("pointer", ["x": .number(Double(x)), "y": .number(Double(y))])
    }

    /// Gives the screen another size, no larger than it was at the start.
    public func resize(to size: String) throws { try process.send("resize", ["size": .string(size)]) }

    /// How many pieces of Inlet's memory the server has mapped.
    public func segments() throws -> Int { try process.send("segments")["count"]?.int ?? -1 }

    /// Stops the server without ending it: it answers nothing until ``thaw()``.
    public func freeze() throws { try process.send("freeze") }

    /// Lets a stopped server go on.
    public func thaw() throws { try process.send("thaw") }

    /// Ends the X server alone, as a crash would.
    public func kill() throws { try process.send("kill") }

    /// Ends all.
    public func stop() { process.stop() }
}
