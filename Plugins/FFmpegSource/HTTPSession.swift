import CCurl
import CFFmpeg
import InletCore
import InletFFmpeg

/// What the requests of one source share: connections, cookies, and what is known of its server.
///
/// Confined to one thread at a time: that which opens the input, then the capture thread.
@safe final class HTTPSession {
    let settings: HTTPSettings
    private let multi: UnsafeMutableRawPointer
    private let cookies: UnsafeMutableRawPointer
    /// What bounds all waiting. It outlives the session.
    private unowned let interruption: Interruption
    /// Ends the stream.
    let refuse: (InletError) -> Void
    /// The server whose credentials the source has.
    private var home: HTTPAddress?
    /// Whether that takes Basic alone, which then need not be asked for each time.
    var takesBasicAlone = false
    /// Who leads to what is opened next: the most public of those that were asked for what leads on.
    var leader = HTTPLeader.user

    private static let started: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    private static let longestWait = Duration.seconds(1)
    /// Where nothing tells of a cancellation.
    private static let blindWait = Duration.milliseconds(50)
    private static let connections = 4

    /// - Parameter onRefusal: called with what ends the stream, whatever libavformat makes of it.
    /// - Throws: ``InletError/Code/resourceExhausted`` where there is no memory.
    init(
        _ settings: HTTPSettings, _ interruption: Interruption, onRefusal: @escaping (InletError) -> Void
    ) throws(InletError) {
        guard Self.started, let multi = unsafe curl_multi_init() else {
            throw InletError(.resourceExhausted, "There is not enough memory for connections.")
        }
        guard let cookies = unsafe curl_share_init() else {
            _ = unsafe curl_multi_cleanup(multi)
            throw InletError(.resourceExhausted, "There is not enough memory for connections.")
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
        _ = unsafe curl_multi_cleanup(multi)
        _ = unsafe curl_share_cleanup(cookies)
    }

    /// Whether credentials are for the server of an address. The first that is asked for is the source's.
    func isHome(_ address: HTTPAddress) -> Bool {
        if home == nil { home = address }
        return home?.isSameOrigin(as: address) ?? false
    }

    /// Begins a transfer, which ``end(_:)`` ends.
    func begin(_ request: HTTPTransfer.Request) throws(InletError) -> HTTPTransfer {
        let transfer = unsafe try HTTPTransfer(request, settings, cookies: cookies, basicOnly: takesBasicAlone)
        _ = unsafe curl_multi_add_handle(multi, transfer.easy)
        return transfer
    }

    /// Ends a transfer, wherever it is.
    func end(_ transfer: HTTPTransfer) { _ = unsafe curl_multi_remove_handle(multi, transfer.easy) }

    /// Lets all transfers go on until `isEnough`.
    ///
    /// - Returns: whether it is; false where they are to be given up.
    func drive(until isEnough: () -> Bool) -> Bool {
        while !isEnough() {
            if mustGiveUp { return false }
            var running: Int32 = 0
            guard unsafe curl_multi_perform(multi, &running) == CURLM_OK else { return false }
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

    /// Waits, without transfers, for so long.
    ///
    /// - Returns: false where that is to be given up.
    func pause(_ time: Duration) -> Bool {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {
            if mustGiveUp { return false }
            wait(min(end - ContinuousClock.now, Self.longestWait))
        }
        return !mustGiveUp
    }

    private var mustGiveUp: Bool { interruption.shouldGiveUp }

    /// Waits for what transfers wait for, a cancellation or the end of the time.
    private func wait(_ longest: Duration) {
        let descriptor = interruption.wakeUpDescriptor
        let time = min(interruption.timeLeft, descriptor < 0 ? Self.blindWait : longest)
        var other = curl_waitfd(fd: descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        var ready: Int32 = 0
        // A millisecond more, so that the time is over then.
        let milliseconds = Int32(clamping: time.wholeNanoseconds / 1_000_000 + 1)
        _ = unsafe curl_multi_poll(multi, &other, descriptor < 0 ? 0 : 1, max(0, milliseconds), &ready)
    }
}
