import CScreenCast
import Glibc
import InletCore
import InletSystem
import Logging

// Unsafe: owns an sd-bus connection.
/// A screen shared by the desktop portal: org.freedesktop.portal.ScreenCast on the session bus. For one thread.
///
/// No call waits for the bus, the portal or the user beyond the context's deadline, the time that the user has to
/// answer, and cancellation.
@safe final class PortalSession {
    /// A request to the portal.
    struct Request {
        var showsPointer: Bool
        /// How long the user has to answer.
        var consent: Duration
        /// Whether the portal should give a token for the next session.
        var remembers: Bool
        /// The token of an earlier session.
        var token: String?
    }

    /// A screen that the user agreed to share.
    struct Grant {
        /// PipeWire's number of the stream.
        var node: UInt32
        /// A connection to PipeWire, which the receiver must close.
        var remote: Int32
        /// The token for the next session, if one was requested and the portal provides it.
        var token: String?
    }

    /// The information received from the portal so far.
    private struct Facts {
        var version: UInt32
        var kinds: UInt32
        var cursorModes: UInt32
        var node: UInt32
        var token: String?

        init(_ state: inlet_portal_state) {
            unsafe (version, kinds, cursorModes) = (state.version, state.kinds, state.cursor_modes)
            unsafe node = state.node
            unsafe token = state.token.map { unsafe String(cString: $0) }
        }
    }

    private let portal: OpaquePointer

    /// Whether this process belongs to a Wayland session.
    static var isInWaylandSession: Bool { unsafe getenv("WAYLAND_DISPLAY").map { unsafe $0.pointee != 0 } == true }

    /// A dialog that is open for longer than this counts as an interruption.
    private static let unnoticed = Duration.seconds(1)
    /// The kinds of sources that the portal can share, as the portal numbers them: a monitor, a window.
    private static let kinds: UInt32 = 1 | 2
    private static let (hidden, embedded): (UInt32, UInt32) = (1, 2)

    /// Starts to connect.
    ///
    /// - Parameter bus: the address of the bus; nil for the one in the environment.
    /// - Throws: ``InletError/Code/unsupported`` if the libraries are missing, ``InletError/Code/notFound``
    ///   without a bus.
    init(bus: String?) throws(InletError) {
        if let missing = unsafe inlet_cast_load() {
            throw InletError(
                .unsupported,
                "Capturing a Wayland session needs \(unsafe String(cString: missing)), which is not installed. Scripts/bootstrap installs it. To capture only windows of Xwayland, name its display, such as screen::0."
            )
        }
        guard let portal = unsafe inlet_portal_new(bus) else { throw Self.noBus(errno) }
        unsafe self.portal = portal
    }

    deinit { unsafe inlet_portal_free(portal) }

    /// Requests a screen. The portal asks the user unless it has an earlier answer.
    ///
    /// - Throws: ``InletError/Code/notFound`` and ``InletError/Code/unsupported`` if no portal shares screens,
    ///   ``InletError/Code/declined`` if the user does not agree in time, and the errors of the context.
    func open(_ request: Request, _ context: SourceContext) throws(InletError) -> Grant {
        let abilities = try answer(unsafe inlet_portal_ask_abilities(portal), "GetAll", context)
        guard abilities.kinds & Self.kinds != 0 else {
            throw InletError(.unsupported, "The desktop portal shares neither monitors nor windows.")
        }
        _ = try answer(unsafe inlet_portal_create_session(portal), "CreateSession", context)
        let remembers = request.remembers && abilities.version >= 4
        if request.remembers, !remembers {
            context.logger.notice("The desktop portal does not remember answers: the user is asked each time.")
        }
        let wanted = request.showsPointer ? Self.embedded : Self.hidden
        let cursor = abilities.cursorModes & wanted
        if cursor == 0, request.showsPointer {
            context.logger.notice("The pointer is not drawn: the desktop portal does not support it.")
        }
        // Some portals ask the user in the first of these steps, others in the second.
        let limit = context.clock.now + request.consent
        _ = try answer(
            unsafe inlet_portal_select(
                portal, abilities.kinds & Self.kinds, cursor == 0 ? Self.hidden : cursor, remembers, request.token),
            "SelectSources", ofUserUntil: limit, context)
        let started = try answer(
            unsafe inlet_portal_start(portal), "Start", ofUserUntil: limit, context)
        _ = try answer(unsafe inlet_portal_open_remote(portal), "OpenPipeWireRemote", context)
        return Grant(
            node: started.node, remote: unsafe inlet_portal_take_remote(portal),
            token: started.token)
    }

    /// Returns whether the desktop has reported the end of the session.
    ///
    /// - Throws: ``InletError/Code/disconnected`` if the session bus is gone.
    func isClosed() throws(InletError) -> Bool {
        let status = unsafe inlet_portal_run(portal)
        guard status >= 0 else { throw Self.lostBus(-status) }
        return unsafe inlet_portal_look(portal).is_closed
    }

    /// The descriptor to poll for events.
    var polled: pollfd {
        unsafe pollfd(fd: inlet_portal_descriptor(portal), events: inlet_portal_events(portal), revents: 0)
    }

    /// Waits for the answer to the last request.
    ///
    /// - Parameters:
    ///   - status: the result of the request's call.
    ///   - limit: the time until which the user may answer; nil if the user is not asked.
    private func answer(
        _ status: Int32, _ operation: String, ofUserUntil limit: MonotonicTime? = nil, _ context: SourceContext
    ) throws(InletError) -> Facts {
        guard status >= 0 else { throw Self.lostBus(-status) }
        let beginning = context.clock.now
        var isInterrupted = false
        defer { if isInterrupted { context.endInterruption() } }
        while true {
            let isClosed = try isClosed()
            let state = unsafe inlet_portal_look(portal)
            switch unsafe state.outcome {
            case inlet_portal_done: return unsafe Facts(state)
            case inlet_portal_denied: throw Self.declined("The user refused to share the screen.", operation)
            case inlet_portal_ended:
                throw InletError(
                    .serverUnavailable,
                    "The desktop portal abandoned the request. Check its log and that of its backend.",
                    context: .init(operation: operation))
            case inlet_portal_failed: throw unsafe Self.failure(state, operation)
            default: break
            }
            if isClosed { throw Self.ended }
            try context.checkCancellation()
            let now = context.clock.now
            var wake = now + .milliseconds(250)
            if let limit {
                guard now < limit else {
                    throw Self.declined("The user did not answer whether the screen may be shared.", operation)
                }
                wake = min(wake, limit)
                if !isInterrupted, now - beginning >= Self.unnoticed {
                    isInterrupted = true
                    context.beginInterruption("The desktop is asking the user whether the screen may be shared.")
                }
            }
            var polled = [self.polled]
            polled.wait(until: wake, context)
        }
    }

    // MARK: Errors

    /// The error of a session that the desktop has ended.
    static var ended: InletError {
        declined("The desktop or its user ended the sharing of the screen.", nil)
    }

    private static func declined(_ message: String, _ operation: String?) -> InletError {
        InletError(
            .declined, "\(message) Start the source again to retry.", context: .init(operation: operation))
    }

    private static func noBus(_ code: Int32) -> InletError {
        InletError(
            .notFound,
            "Cannot reach the desktop portal, because there is no session bus: \(SystemErrorText.of(code)). Run inlet in the session whose screen you want to capture, or set DBUS_SESSION_BUS_ADDRESS. To capture an X server's screen, name its display, such as screen::0.",
            context: .init(operation: "sd_bus_open_user", nativeCode: code))
    }

    private static func lostBus(_ code: Int32) -> InletError {
        InletError(
            .disconnected, "The session bus is gone: \(SystemErrorText.of(code)).",
            context: .init(operation: "sd_bus_process", nativeCode: code))
    }

    @unsafe private static func failure(_ state: inlet_portal_state, _ operation: String) -> InletError {
        let name = unsafe String(cString: state.error_name)
        let text = unsafe String(cString: state.error_text)
        let dbus = "org.freedesktop.DBus.Error."
        let (code, message): (InletError.Code, String) =
            switch name {
            case dbus + "ServiceUnknown", dbus + "NameHasNoOwner":
                (
                    .notFound,
                    "There is no desktop portal on the session bus. Install xdg-desktop-portal and the backend for this desktop, such as xdg-desktop-portal-gnome, -kde or -wlr."
                )
            case dbus + "InvalidArgs" where operation == "GetAll",
                dbus + "UnknownInterface", dbus + "UnknownMethod", dbus + "UnknownObject":
                (
                    .unsupported,
                    "The desktop portal cannot share screens. Install the backend for this desktop, such as xdg-desktop-portal-gnome, -kde or -wlr."
                )
            case dbus + "AccessDenied", "org.freedesktop.portal.Error.NotAllowed":
                (.permissionDenied, "The desktop portal does not allow this program to capture the screen.")
            case dbus + "NoReply", dbus + "Disconnected":
                (.disconnected, "The desktop portal has exited.")
            default: (.serverUnavailable, "The desktop portal failed.")
            }
        return InletError(
            code, text.isEmpty ? message : "\(message) Its message: \(text.sanitized(limit: 300))",
            context: .init(operation: operation))
    }
}

extension [pollfd] {
    /// Waits until one of the descriptors is ready, until `time`, or until the context's deadline or cancellation.
    mutating func wait(until time: MonotonicTime, _ context: SourceContext) {
        let remaining = (Swift.min(time, context.deadline) - context.clock.now).wholeNanoseconds
        guard remaining > 0 else { return }
        append(pollfd(fd: context.wakeUpDescriptor, events: Int16(POLLIN), revents: 0))
        _ = unsafe poll(&self, nfds_t(count), Int32(clamping: (remaining - 1) / 1_000_000 + 1))
    }
}
