/// A Wayland session without a screen, shared by a desktop portal: sway, PipeWire and xdg-desktop-portal.
public final class WaylandSession: Sendable {
    /// The user's answer when the portal asks whether the screen may be shared.
    public enum Answer: String, Sendable {
        case yes, no, never
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The address of the session bus.
    public let bus: String
    /// The path of the compositor's socket, as `WAYLAND_DISPLAY` has it.
    public let display: String

    /// Starts a session and waits until it is ready.
    ///
    /// - Parameters:
    ///   - size: the size of the screen, such as `640x480`.
    ///   - answer: the user's answer until ``setAnswer(_:)``.
    ///   - hasPortal: whether there is a desktop portal on the session bus.
    /// - Throws: ``PeerProcess/Failure``.
    public init(size: String = "640x480", answer: Answer = .yes, hasPortal: Bool = true) throws {
        process = try PeerProcess(
            "wayland-session.py", ["--size", size, "--answer", answer.rawValue] + (hasPortal ? [] : ["--bare"]),
            readyWithin: .seconds(60))
        bus = process.ready["bus"]?.text ?? ""
        display = process.ready["display"]?.text ?? ""
    }

    /// Sets the user's answer from now on.
    public func setAnswer(_ answer: Answer) throws { try process.send("answer", ["text": .string(answer.rawValue)]) }

    /// Returns the number of questions that the user has answered.
    public func questions() throws -> Int { try process.send("asked")["count"]?.int ?? -1 }

    /// Shows live timecode pictures on the whole screen.
    public func play(size: String, framesPerSecond: Int) throws {
        try process.send("play", ["size": .string(size), "fps": .number(Double(framesPerSecond))])
    }

    /// Ends the program that draws.
    public func clear() throws { try process.send("clear") }

    /// Changes the size of the screen.
    public func resize(to size: String) throws { try process.send("resize", ["size": .string(size)]) }

    /// Rotates the screen by degrees, as in `swaymsg output transform`.
    public func turn(by degrees: Int) throws { try process.send("turn", ["degrees": .string("\(degrees)")]) }

    /// Returns the number of the portal's sessions.
    public func sessions() throws -> Int { try process.send("sessions")["count"]?.int ?? -1 }

    /// Kills the portal's backend, which provides the pictures, like a crash.
    public func killBackend() throws { try process.send("kill-backend") }

    /// Suspends the portal: it answers nothing until ``thawPortal()``.
    public func freezePortal() throws { try process.send("freeze-portal") }

    /// Resumes a suspended portal.
    public func thawPortal() throws { try process.send("thaw-portal") }

    /// Ends all processes.
    public func stop() { process.stop() }
}
