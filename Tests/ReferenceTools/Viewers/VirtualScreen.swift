/// Xvfb, an X server without a screen, and two programs that draw on it: xwud and ffplay.
public final class VirtualScreen: Sendable {
    /// The process, for its log.
    public let process: PeerProcess
    /// The display, such as `:1`.
    public let display: String

    /// Starts a server and waits until it is ready.
    ///
    /// - Parameters:
    ///   - size: the size of the screen, such as `640x480`.
    ///   - depth: the color depth of a pixel in bits.
    ///   - missing: an extension that the server disables, by Xvfb's name for it.
    /// - Throws: ``PeerProcess/Failure``.
    public init(size: String = "640x480", depth: Int = 24, without missing: String? = nil) throws {
        process = try PeerProcess(
            "x-server.py", ["--size", size, "--depth", "\(depth)"] + (missing.map { ["--without", $0] } ?? []))
        display = process.ready["display"]?.text ?? ""
    }

    /// Shows an XWD file in the upper-left corner.
    public func show(_ path: String) throws { try process.send("show", ["path": .string(path)]) }

    /// Shows live timecode pictures in the upper-left corner.
    public func play(size: String, framesPerSecond: Int) throws {
        try process.send("play", ["size": .string(size), "fps": .number(Double(framesPerSecond))])
    }

    /// Shows one timecode picture in the upper-left corner. The first call starts the player, which needs a few
    /// pictures before it shows any.
    public func draw(_ number: UInt32, size: String) throws {
        try process.send("draw", ["size": .string(size), "number": .number(Double(number))])
    }

    /// Pauses the live picture.
    public func pause() throws { try process.send("pause") }

    /// Ends the programs that draw.
    public func clear() throws { try process.send("clear") }

    /// Moves the pointer.
    public func movePointer(x: Int, y: Int) throws {
        try process.send("pointer", ["x": .number(Double(x)), "y": .number(Double(y))])
    }

    /// Changes the size of the screen, up to its initial size.
    public func resize(to size: String) throws { try process.send("resize", ["size": .string(size)]) }

    /// Returns the number of Inlet's memory segments that the server has mapped.
    public func segments() throws -> Int { try process.send("segments")["count"]?.int ?? -1 }

    /// Suspends the server: it answers nothing until ``thaw()``.
    public func freeze() throws { try process.send("freeze") }

    /// Resumes a suspended server.
    public func thaw() throws { try process.send("thaw") }

    /// Kills only the X server, like a crash.
    public func kill() throws { try process.send("kill") }

    /// Ends all processes.
    public func stop() { process.stop() }
}
