import CXCB
import Glibc
import InletCore
import InletSystem

// Unsafe: owns a libxcb connection.
/// A connection to an X server. For one thread.
///
/// No call waits for the server beyond the context's deadline and cancellation.
@safe final class XServer {
    /// The changes on the screen since the last check.
    struct News {
        var isDamaged = false
        var hasNewSize = false
    }

    /// A monitor and the part of the screen that it shows.
    struct Monitor: Equatable {
        var name: String
        var rect: ImageRect
    }

    let layout: ScreenLayout
    private(set) var size: ImageSize
    /// Whether the server reports changes of the screen.
    private(set) var seesChanges = false
    /// Whether the server provides the pointer's picture.
    private(set) var knowsPointer = false
    private let connection: OpaquePointer
    private let root: UInt32
    private let name: String
    private var hasMonitors = false
    private var damage: UInt32 = 0
    private var damageEvent = -1
    private var news = News()
    /// The failed requests without a reply, by the last bits of their numbers.
    private var failures: [UInt16: Int] = [:]

    /// Connects to a display.
    ///
    /// - Parameter display: the display to connect to; nil for the one in `DISPLAY`.
    /// - Throws: ``InletError/Code/notFound`` without a display or a server, ``InletError/Code/unsupported`` if the
    ///   server lacks a required extension, and the errors of the context.
    init(_ display: String?, _ context: SourceContext) throws(InletError) {
        if let missing = unsafe inlet_xcb_load() {
            throw InletError(
                .unsupported,
                "Capturing a screen needs \(unsafe String(cString: missing)), which is not installed. Scripts/bootstrap installs it."
            )
        }
        guard let name = unsafe display ?? getenv("DISPLAY").map({ unsafe String(cString: $0) }), !name.isEmpty
        else { throw Self.noDisplay }
        self.name = name
        let (connection, number) = unsafe try XConnecting(display).run(context)
        unsafe self.connection = connection
        var screen = inlet_xcb_screen()
        guard unsafe !inlet_xcb_is_broken(connection) else {
            unsafe inlet_xcb_disconnect(connection)
            throw Self.unreachable(name)
        }
        guard unsafe inlet_xcb_describe(connection, number, &screen) else {
            unsafe inlet_xcb_disconnect(connection)
            throw InletError(.notFound, "The X server at '\(name)' has no screen \(number).")
        }
        root = screen.root
        size = ImageSize(width: Int(screen.width), height: Int(screen.height))
        layout = ScreenLayout(
            depth: Int(screen.depth), bitsPerPixel: Int(screen.bits_per_pixel),
            rowPadding: Int(screen.scanline_pad), isBigEndian: screen.is_big_endian,
            isTrueColor: screen.is_true_color, red: screen.red, green: screen.green, blue: screen.blue)
        try prepare(context)
    }

    deinit { unsafe inlet_xcb_disconnect(connection) }

    private func prepare(_ context: SourceContext) throws(InletError) {
        unsafe inlet_xcb_prefetch(connection)
        try roundTrip(context)
        func has(_ extension: inlet_xcb_extension) -> Bool {
            unsafe inlet_xcb_first_event(connection, `extension`) >= 0
        }
        guard has(inlet_xcb_shm) else {
            throw InletError(
                .unsupported,
                "The X server at '\(name)' does not share memory (MIT-SHM); it may run on another machine. Run inlet there."
            )
        }
        (knowsPointer, hasMonitors) = (has(inlet_xcb_xfixes), has(inlet_xcb_randr))
        damageEvent = Int(unsafe inlet_xcb_first_event(connection, inlet_xcb_damage))
        seesChanges = damageEvent >= 0
        _ = try answer(
            unsafe inlet_xcb_ask_versions(connection, knowsPointer, seesChanges, hasMonitors, true), context)
        unsafe inlet_xcb_watch_size(connection, root)
        if seesChanges { damage = unsafe inlet_xcb_watch_damage(connection, root) }
    }

    private static var noDisplay: InletError {
        InletError(
            .notFound,
            "There is no X display: neither DISPLAY nor WAYLAND_DISPLAY is set. Name a display, such as screen::0, or screen:portal for the desktop portal of a Wayland session."
        )
    }

    private static func unreachable(_ name: String) -> InletError {
        InletError(
            .notFound,
            "Cannot connect to the X server at '\(name)': it is not running, or does not admit this user. Check DISPLAY, and XAUTHORITY or xhost."
        )
    }

    // MARK: Waiting

    /// Waits until the server sends a message, or until `time`.
    func wait(until time: MonotonicTime, _ context: SourceContext) throws(InletError) {
        try context.checkCancellation()
        let remaining = (min(time, context.deadline) - context.clock.now).wholeNanoseconds
        guard remaining > 0 else { return }
        unsafe inlet_xcb_flush(connection)
        unsafe inlet_xcb_wait(connection, context.wakeUpDescriptor, min(remaining, 60_000_000_000))
        try context.checkCancellation()
    }

    private func answer(_ sequence: UInt32, _ context: SourceContext) throws(InletError) -> XAnswer {
        while true {
            var memory: UnsafeMutableRawPointer?
            var code: Int32 = 0
            let isThere = unsafe inlet_xcb_poll(connection, sequence, &memory, &code)
            if isThere {
                if let memory = unsafe memory { return unsafe XAnswer(memory, isAnswer: true) }
                try check()
                throw refusal(Int(code))
            }
            try check()
            try wait(until: .distantFuture, context)
        }
    }

    private func refusal(_ code: Int) -> InletError {
        InletError(
            .formatChanged,
            "The X server at '\(name)' refused to capture the screen, because the screen has changed.",
            context: .init(operation: "ShmGetImage", nativeCode: Int32(clamping: code)))
    }

    /// - Throws: ``InletError/Code/disconnected`` if the server is gone.
    private func check() throws(InletError) {
        guard unsafe inlet_xcb_is_broken(connection) else { return }
        throw InletError(.disconnected, "The X server at '\(name)' is gone.")
    }

    /// Returns when the server has answered, after all its earlier messages.
    func roundTrip(_ context: SourceContext) throws(InletError) {
        _ = try answer(unsafe inlet_xcb_ask_focus(connection), context)
        readEvents()
    }

    /// Returns the changes reported since the last call.
    func takeNews() throws(InletError) -> News {
        readEvents()
        try check()
        defer { news = News() }
        return news
    }

    private func readEvents() {
        while let event = unsafe inlet_xcb_next_event(connection) {
            let event = unsafe XAnswer(event, isAnswer: false)
            // The highest bit marks an event that another client sent.
            switch event.number(at: 0, as: UInt8.self).map({ Int($0 & 0x7f) }) {
            case 0:
                guard failures.count < 64, let number = event.number(at: 2, as: UInt16.self) else { break }
                failures[number] = Int(event.number(at: 1, as: UInt8.self) ?? 0)
            case Int(XCB_CONFIGURE_NOTIFY) where event.number(at: 8, as: UInt32.self) == root:
                guard let width = event.number(at: 20, as: UInt16.self),
                    let height = event.number(at: 22, as: UInt16.self), width > 0, height > 0
                else { break }
                let new = ImageSize(width: Int(width), height: Int(height))
                if new != size { (size, news.hasNewSize, news.isDamaged) = (new, true, true) }
            case damageEvent: news.isDamaged = true
            default: break
            }
        }
    }

    // MARK: Pictures

    /// Allocates memory for the server to draw into.
    func makePicture(byteCount: Int, _ context: SourceContext) throws(InletError) -> ScreenPicture {
        let picture = unsafe try ScreenPicture(byteCount: byteCount, on: connection)
        try roundTrip(context)
        if let code = failures.removeValue(forKey: UInt16(truncatingIfNeeded: picture.request)) {
            throw InletError(
                .unsupported,
                "The X server at '\(name)' cannot use memory of this process; it may run in another container or on another machine. Run inlet there.",
                context: .init(operation: "ShmAttachFd", nativeCode: Int32(clamping: code)))
        }
        return picture
    }

    /// Makes the server release a picture's memory, given its identifier. Readers of the picture may continue.
    func release(_ segment: UInt32) { unsafe inlet_xcb_detach(connection, segment) }

    /// Draws a part of the screen into a picture. From then on, later changes are reported.
    ///
    /// - Throws: ``InletError/Code/formatChanged`` if the part is no longer on the screen.
    func capture(_ rect: ImageRect, into picture: ScreenPicture, _ context: SourceContext) throws(InletError) {
        if seesChanges { unsafe inlet_xcb_forget_damage(connection, damage) }
        _ = try answer(
            unsafe inlet_xcb_ask_image(
                connection, root, Int16(clamping: rect.x), Int16(clamping: rect.y),
                UInt16(clamping: rect.size.width), UInt16(clamping: rect.size.height), picture.segment),
            context)
    }

    /// The position of the pointer on the screen; nil if it is on another screen.
    func pointerPlace(_ context: SourceContext) throws(InletError) -> (x: Int, y: Int)? {
        let answer = try answer(unsafe inlet_xcb_ask_pointer(connection, root), context)
        guard answer.number(at: 1, as: UInt8.self) == 1, let x = answer.number(at: 16, as: Int16.self),
            let y = answer.number(at: 18, as: Int16.self)
        else { return nil }
        return (Int(x), Int(y))
    }

    /// The pointer's current picture; nil if the server does not provide it.
    func pointer(_ context: SourceContext) throws(InletError) -> PointerPicture? {
        let answer = try answer(unsafe inlet_xcb_ask_cursor(connection), context)
        guard let x = answer.number(at: 8, as: Int16.self), let y = answer.number(at: 10, as: Int16.self),
            let width = answer.number(at: 12, as: UInt16.self), let height = answer.number(at: 14, as: UInt16.self),
            let hotX = answer.number(at: 16, as: UInt16.self), let hotY = answer.number(at: 18, as: UInt16.self),
            let pixels = answer.numbers(at: 32, count: Int(width) * Int(height))
        else { return nil }
        return PointerPicture(
            x: Int(x) - Int(hotX), y: Int(y) - Int(hotY), size: ImageSize(width: Int(width), height: Int(height)),
            pixels: pixels)
    }

    /// The monitors, at most 64.
    func monitors(_ context: SourceContext) throws(InletError) -> [Monitor] {
        guard hasMonitors else { return [] }
        var found: [(atom: UInt32, rect: ImageRect)] = []
        do {
            let answer = try answer(unsafe inlet_xcb_ask_monitors(connection, root), context)
            var place = 32
            for _ in 0..<min(64, answer.number(at: 12, as: UInt32.self) ?? 0) {
                guard let atom = answer.number(at: place, as: UInt32.self),
                    let outputs = answer.number(at: place + 6, as: UInt16.self),
                    let x = answer.number(at: place + 8, as: Int16.self),
                    let y = answer.number(at: place + 10, as: Int16.self),
                    let width = answer.number(at: place + 12, as: UInt16.self),
                    let height = answer.number(at: place + 14, as: UInt16.self)
                else { break }
                found.append((atom, ImageRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))))
                place += 24 + 4 * Int(outputs)
            }
        }
        var monitors: [Monitor] = []
        for (atom, rect) in found {
            let answer = try answer(unsafe inlet_xcb_ask_name(connection, atom), context)
            let bytes = answer.bytes(at: 32, count: Int(answer.number(at: 8, as: UInt16.self) ?? 0))
            monitors.append(Monitor(name: String(decoding: bytes ?? [], as: UTF8.self), rect: rect))
        }
        return monitors
    }
}
