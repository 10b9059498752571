import CCurl
import CFFmpeg
import InletCore
import InletFFmpeg

// Unsafe: owns libcurl's connections and cookies.
/// The state that the requests of one source share: connections, cookies, and knowledge about the server.
///
/// Confined to one thread at a time: first the one that opens the input, then the capture thread.
@safe final class HTTPSession {
    let settings: HTTPSettings
    private let multi: UnsafeMutableRawPointer
    private let cookies: UnsafeMutableRawPointer
    /// Bounds all waiting. Outlives the session.
    private unowned let interruption: Interruption
    /// Ends the stream with an error.
    let refuse: (InletError) -> Void
    /// The server for which the source's credentials are intended.
    private var home: HTTPAddress?
    /// Whether that server accepts only Basic authentication, which then need not be negotiated for each request.
    var takesBasicAlone = false
    /// The most public of the addresses that led to the next one.
    var leader = HTTPLeader.user

    private static let longestWait = Duration.seconds(1)
    /// The polling interval if nothing signals a cancellation.
    private static let blindWait = Duration.milliseconds(50)
    private static let connections = 4

    /// - Parameter onRefusal: called with the error that ends the stream, however libavformat treats it.
    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    init(
        _ settings: HTTPSettings, _ interruption: Interruption, onRefusal: @escaping (InletError) -> Void
    ) throws(InletError) {
        guard let multi = unsafe inlet_curl_multi_init() else {
            throw InletError(.resourceExhausted, "Not enough memory for connections.")
        }
        guard let cookies = unsafe inlet_curl_share_init() else {
            _ = unsafe inlet_curl_multi_cleanup(multi)
            throw InletError(.resourceExhausted, "Not enough memory for connections.")
        }
        self.settings = settings
        self.interruption = interruption
        refuse = onRefusal
        unsafe self.multi = multi
        unsafe self.cookies = cookies
        unsafe inlet_curl_share_cookies(cookies)
        unsafe inlet_curl_set_multi_number(multi, CURLMOPT_MAXCONNECTS, Self.connections)
    }

    deinit {
        _ = unsafe inlet_curl_multi_cleanup(multi)
        _ = unsafe inlet_curl_share_cleanup(cookies)
    }

    /// Returns whether the credentials are for the server at an address. The first server is the source's.
    func isHome(_ address: HTTPAddress) -> Bool {
        if home == nil { home = address }
        return home?.isSameOrigin(as: address) ?? false
    }

    /// Begins a transfer. Call ``end(_:)`` to end it.
    func begin(_ request: HTTPTransfer.Request) throws(InletError) -> HTTPTransfer {
        let transfer = unsafe try HTTPTransfer(request, settings, cookies: cookies, basicOnly: takesBasicAlone)
        _ = unsafe inlet_curl_multi_add_handle(multi, transfer.easy)
        return transfer
    }

    /// Ends a transfer in any state.
    func end(_ transfer: HTTPTransfer) { _ = unsafe inlet_curl_multi_remove_handle(multi, transfer.easy) }

    /// Drives all transfers until `isEnough` returns true.
    ///
    /// - Returns: whether `isEnough` returned true; false if the transfers must be given up.
    func drive(until isEnough: () -> Bool) -> Bool {
        while !isEnough() {
            if mustGiveUp { return false }
            var running: Int32 = 0
            guard unsafe inlet_curl_multi_perform(multi, &running) == CURLM_OK else { return false }
            var result = CURLE_OK
            while let easy = unsafe inlet_curl_take_done(multi, &result) {
                if let owner = unsafe inlet_curl_owner(easy) {
                    unsafe Unmanaged<HTTPTransfer>.fromOpaque(owner).takeUnretainedValue().finish(result)
                }
            }
            if isEnough() { return true }
            wait(Self.longestWait)
        }
        return true
    }

    /// Waits without driving transfers.
    ///
    /// - Returns: false if the wait must be given up.
    func pause(_ time: Duration) -> Bool {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {
            if mustGiveUp { return false }
            wait(min(end - ContinuousClock.now, Self.longestWait))
        }
        return !mustGiveUp
    }

    /// The time of the capture clock.
    var now: MonotonicTime { interruption.now }

    /// Waits on purpose until a time. This counts neither as silence of the server nor as a hanging source.
    ///
    /// - Returns: false if the wait must be given up.
    func sleep(until time: MonotonicTime) -> Bool { interruption.sleep(until: time) }

    /// Records a response of the server, which restarts the server's time limit.
    func noteAnswer() { interruption.noteAnswer() }

    private var mustGiveUp: Bool { interruption.shouldGiveUp }

    /// Waits until a transfer can continue, until a cancellation, or until the time is up.
    private func wait(_ longest: Duration) {
        let descriptor = interruption.wakeUpDescriptor
        let time = min(interruption.timeLeft, descriptor < 0 ? Self.blindWait : longest)
        var other = curl_waitfd(fd: descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        var ready: Int32 = 0
        // An additional millisecond makes sure that the time is up when the wait returns.
        let milliseconds = Int32(clamping: time.wholeNanoseconds / 1_000_000 + 1)
        _ = unsafe inlet_curl_multi_poll(multi, &other, descriptor < 0 ? 0 : 1, max(0, milliseconds), &ready)
    }
}
