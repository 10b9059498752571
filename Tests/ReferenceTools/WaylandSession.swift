/// A Wayland session without a screen, whose desktop portal shares it: sway, PipeWire and xdg-desktop-portal.
public final class WaylandSession: Sendable {
    /// What the user answers when the portal asks whether the screen may be shared.
    public enum Answer: String, Sendable {
        case yes, no, never
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The address of the session bus.
    public let bus: String
    /// The path of the compositor's socket, as `WAYLAND_DISPLAY` has it.
    public let display: String

    /// Starts a session and waits until it is there.
    ///
    /// - Parameters:
    ///   - size: the screen's, such as `640x480`.
    ///   - answer: what the user says until ``setAnswer(_:)``.
    ///   - hasPortal: whether there is a desktop portal on the session bus.
    /// - Throws: ``PeerProcess/Failure``.
    public init(size: String = "640x480", answer: Answer = .yes, hasPortal: Bool = true) throws {
        process = try PeerProcess(
            "wayland-session.py", ["--size", size, "--answer", answer.rawValue] + (hasPortal ? [] : ["--bare"]),
            readyWithin: .seconds(60))
        bus = process.ready["bus"]?.text ?? ""
        display = process.ready["display"]?.text ?? ""
    }

    /// Sets what the user says from now on.
    public func setAnswer(_ answer: Answer) throws { try process.send("answer", ["text": .string(answer.rawValue)]) }

    /// How often the user was asked and has answered.
    public func questions() throws -> Int { try process.send("asked")["count"]?.int ?? -1 }

    /// Shows live timecode pictures on the whole screen.
    public func play(size: String, framesPerSecond: Int) throws {
        try process.send("play", ["size": .string(size), "fps": .number(Double(framesPerSecond))])
    }

    /// Ends what is shown.
    public func clear() throws { try process.send("clear") }

    /// Gives the screen another size.
    public func resize(to size: String) throws { try process.send("resize", ["size": .string(size)]) }

    /// Turns the screen, in degrees, as `swaymsg output transform` has them.
    public func turn(by degrees: Int) throws { try process.send("turn", ["degrees": .string("\(degrees)")]) }

    /// How many sessions the portal has.
    public func sessions() throws -> Int { try process.send("sessions")["count"]?.int ?? -1 }

    /// Ends the portal's backend, which gives the pictures, as a crash would.
    public func killBackend() throws { try process.send("kill-backend") }

    /// Stops the portal without ending it: it answers nothing until ``thawPortal()``.
    public func freezePortal() throws { try process.send("freeze-portal") }

    /// Lets a stopped portal go on.
    public func thawPortal() throws { try process.send("thaw-portal") }

    /// Ends all.
    public func stop() { process.stop() }
}
