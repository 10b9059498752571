import CCurl
import InletCore
import InletFFmpeg
import InletNetwork

// Unsafe: owns a libcurl transfer and the context of its callbacks.
/// A request by libcurl, and its response as it arrives.
///
/// Confined to the thread that drives its ``HTTPSession``, which also runs the callbacks.
@safe final class HTTPTransfer {
    /// The requested address.
    struct Request {
        var address: HTTPAddress
        /// The first byte and the byte after the last; nil requests the whole resource, without a Range header.
        var range: (start: Int64, end: Int64?)?
        /// Whether the user name and the password may be sent to that address.
        var hasCredentials: Bool
        /// The address that led to this one.
        var leader: HTTPLeader
        /// The version of the resource that need not be sent again.
        var validators = HTTPValidators()
    }

    let easy: UnsafeMutableRawPointer
    private let request: Request
    private let policy: AddressPolicy
    private let isProxied: Bool
    /// Whether libcurl may repeat the request with credentials when the server requests them.
    private let mayAuthenticate: Bool
    private let errorText: UnsafeMutablePointer<CChar>
    private(set) var answer = HTTPAnswer()
    private(set) var result: CURLcode?
    /// Whether the server is not allowed to redirect to the address.
    private(set) var isRefused = false
    /// The address of the connection; nil for one through a proxy.
    private(set) var connectedTo: IPAddress?
    /// The number of the host's addresses to which a connection was tried.
    private(set) var triedAddresses = 0
    private var refusals = 0
    private let basicOnly: Bool
    private let otherStatusLines: UnsafeMutablePointer<curl_slist>?
    private let headers: UnsafeMutablePointer<curl_slist>?
    private var headBytes = 0
    private var discarded = 0
    /// The reader's memory for the body.
    private var target = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var filled = 0
    /// Received data that did not fit into `target`.
    private var spare: [UInt8] = []
    private var spareStart = 0
    private var isPaused = false

    /// The maximum length of a head; a longer one is an attempt to exhaust memory.
    private static let mostHeadBytes = 256 << 10
    /// The maximum length of a redirect's or rejection's body that is read so that the connection can be reused.
    private static let mostDiscarded = 64 << 10
    /// The maximum number of bytes kept for later reads.
    private static let mostSpare = 128 << 10

    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory; ``InletError/Code/unsupported`` if
    ///   libcurl has no HTTP, or cannot be limited to it.
    init(_ request: Request, _ settings: HTTPSettings, cookies: UnsafeMutableRawPointer?, basicOnly: Bool)
        throws(InletError)
    {
        guard let easy = unsafe inlet_curl_easy_init() else {
            throw InletError(.resourceExhausted, "Not enough memory for a request.")
        }
        unsafe self.easy = easy
        self.request = request
        policy = settings.policy
        let proxy = settings.proxies.proxy(scheme: request.address.scheme, host: request.address.host)
        isProxied = proxy != nil
        mayAuthenticate = request.hasCredentials && settings.user != nil
        self.basicOnly = basicOnly
        // For Shoutcast servers; libcurl treats any other first word as HTTP/0.9.
        unsafe otherStatusLines = inlet_curl_slist_append(nil, "ICY 200 OK")
        unsafe headers = request.validators.headers.reduce(nil as UnsafeMutablePointer<curl_slist>?) { list, header in
            unsafe inlet_curl_slist_append(list, header) ?? list
        }
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe inlet_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        let limitation = unsafe inlet_curl_allow_http(easy)
        guard limitation == CURLE_OK else {
            throw InletError(
                .unsupported, "libcurl cannot be limited to HTTP and HTTPS. Install a libcurl with both (libcurl4).",
                context: .init(operation: "curl_easy_setopt", nativeCode: Int32(clamping: limitation.rawValue)))
        }
        configure(settings, proxy: proxy, basicOnly: basicOnly)
        unsafe inlet_curl_set_pointer(easy, CURLOPT_SHARE, cookies)
        unsafe inlet_curl_set_pointer(easy, CURLOPT_HTTP200ALIASES, otherStatusLines)
        unsafe inlet_curl_set_pointer(easy, CURLOPT_HTTPHEADER, headers)
        setCallbacks()
    }

    deinit {
        unsafe inlet_curl_easy_cleanup(easy)
        unsafe inlet_curl_slist_free_all(otherStatusLines)
        unsafe inlet_curl_slist_free_all(headers)
        unsafe errorText.deallocate()
    }

    private func set(_ option: CURLoption, _ number: Int) { unsafe inlet_curl_set_number(easy, option, number) }
    private func set(_ option: CURLoption, _ text: String?) { unsafe inlet_curl_set_text(easy, option, text) }

    private func configure(_ settings: HTTPSettings, proxy: String?, basicOnly: Bool) {
        unsafe inlet_curl_exit_quickly(easy)
        set(CURLOPT_URL, request.address.url)
        set(CURLOPT_PATH_AS_IS, 1)
        // ``HTTPInput`` follows redirects and decides which headers are sent.
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_NOSIGNAL, 1)
        // ``Interruption`` applies the limits.
        set(CURLOPT_CONNECTTIMEOUT_MS, 4_000_000)
        set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        set(CURLOPT_BUFFERSIZE, Int(HTTPInput.bufferSize))
        set(CURLOPT_USERAGENT, settings.userAgent)
        set(CURLOPT_REFERER, settings.referer)
        // Without its own list, a handle would have no cookies at all.
        set(CURLOPT_COOKIEFILE, "")
        // Decided here, because a request through a proxy does not reveal the server's address.
        set(CURLOPT_PROXY, proxy ?? "")
        set(CURLOPT_NOPROXY, "")
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if let (start, end) = request.range {
            // A range includes its last byte.
            set(CURLOPT_RANGE, "\(start)-\(end.map { "\($0.subtracting(saturating: 1))" } ?? "")")
        }
        if mayAuthenticate, let user = settings.user {
            set(CURLOPT_USERNAME, user)
            set(CURLOPT_PASSWORD, settings.password ?? "")
            set(CURLOPT_HTTPAUTH, basicOnly ? inlet_curl_basic : inlet_curl_basic | inlet_curl_digest)
        }
        set(CURLOPT_SSL_VERIFYPEER, settings.certificate.isOn ? 1 : 0)
        set(CURLOPT_SSL_VERIFYHOST, settings.certificate.isOn ? 2 : 0)
        if let authorities = settings.certificate.authorities {
            // Only these authorities are trusted.
            set(CURLOPT_CAINFO, authorities)
            set(CURLOPT_CAPATH, nil as String?)
        }
    }

    private func setCallbacks() {
        var callbacks = unsafe inlet_curl_callbacks(
            header: { bytes, size, count, owner in
                guard let transfer = unsafe HTTPTransfer.at(owner), let bytes = unsafe bytes else { return 0 }
                let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
                return unsafe transfer.takeHead(line)
            },
            body: { bytes, size, count, owner in
                guard let transfer = unsafe HTTPTransfer.at(owner), let bytes = unsafe bytes else { return 0 }
                return unsafe transfer.takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
            },
            open_socket: { owner, _, address in
                guard let transfer = unsafe HTTPTransfer.at(owner), let address = unsafe address else {
                    return inlet_curl_no_socket
                }
                return unsafe transfer.openSocket(address)
            },
            before_request: { owner, remote, _, _, _ in
                guard let transfer = unsafe HTTPTransfer.at(owner), let remote = unsafe remote else {
                    return Int32(CURL_PREREQFUNC_ABORT)
                }
                let text = unsafe String(cString: remote)
                return transfer.noteConnection(text) ? Int32(CURL_PREREQFUNC_OK) : Int32(CURL_PREREQFUNC_ABORT)
            })
        unsafe inlet_curl_set_callbacks(easy, &callbacks, Unmanaged.passUnretained(self).toOpaque())
        unsafe inlet_curl_set_pointer(easy, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
    }

    @unsafe private static func at(_ owner: UnsafeMutableRawPointer?) -> HTTPTransfer? {
        unsafe owner.map { unsafe Unmanaged<HTTPTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Addresses

    private func isAllowed(_ address: IPAddress?) -> Bool {
        guard !isProxied, case .server(let leader) = request.leader else { return true }
        let isAllowed = address.map { policy.allows($0, from: leader) } ?? (policy == .allow)
        if !isAllowed { isRefused = true }
        return isAllowed
    }

    /// Opens a socket for an address that the name service returned, if a connection to it is allowed.
    @unsafe private func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let found = unsafe withUnsafePointer(to: &address.pointee.addr) {
            unsafe IPAddress(family: address.pointee.family, socket: UnsafeRawPointer($0))
        }
        guard isAllowed(found) else { return inlet_curl_no_socket }
        triedAddresses += 1
        return unsafe inlet_curl_open_socket(address)
    }

    /// Checks the address again before the request is sent, even over a reused connection.
    private func noteConnection(_ remote: String) -> Bool {
        // A link-local address has its zone after a %.
        let address = IPAddress(literal: String(remote.prefix(upToByte: "%")))
        connectedTo = isProxied ? nil : address
        return isAllowed(address)
    }

    // MARK: The answer

    /// Whether the final response is known. A response after which libcurl repeats the request is not final.
    var isAnswered: Bool {
        if result != nil { return true }
        guard answer.isWhole else { return false }
        switch answer.status {
        case 401: return !mayAuthenticate || isRefusalFinal
        case 407: return !mayAuthenticate
        default: return answer.isSuccess || answer.isRedirect || answer.status >= 400
        }
    }

    /// Whether libcurl has no other way to authenticate.
    private var isRefusalFinal: Bool {
        !answer.asksForCredentials || basicOnly || refusals >= (answer.isStale ? 3 : 2)
    }

    /// Called when the transfer has ended.
    func finish(_ result: CURLcode) { self.result = result }

    /// The status with which a proxy answered a tunnel request; 0 without a response.
    var tunnelStatus: Int { unsafe inlet_curl_number(easy, CURLINFO_HTTP_CONNECTCODE) }

    /// Whether the server offers Basic authentication and nothing better.
    var offersBasicAlone: Bool {
        let offered = unsafe inlet_curl_number(easy, CURLINFO_HTTPAUTH_AVAIL)
        return offered & (inlet_curl_basic | inlet_curl_digest) == inlet_curl_basic
    }

    /// The system's error code for a failure below HTTP; 0 without a failure.
    var systemError: Int32 { unsafe Int32(clamping: inlet_curl_number(easy, CURLINFO_OS_ERRNO)) }

    /// Whether the connection ended during the TLS handshake, according to OpenSSL.
    var wasCutInTLS: Bool {
        let text = unsafe String(cString: errorText)
        return text.containsBytes("SSL_ERROR_SYSCALL") || text.containsBytes("unexpected eof")
    }

    @unsafe private func takeHead(_ line: UnsafeRawBufferPointer) -> Int {
        let (sum, overflow) = headBytes.addingReportingOverflow(line.count)
        guard !overflow, sum <= Self.mostHeadBytes else { return 0 }
        headBytes = sum
        let wasWhole = answer.isWhole
        unsafe answer.add(String(decoding: line, as: UTF8.self))
        if !wasWhole, answer.isWhole, answer.status == 401 { refusals += 1 }
        return line.count
    }

    @unsafe private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard answer.isSuccess else {
            discarded += bytes.count
            return discarded <= Self.mostDiscarded ? bytes.count : 0
        }
        let room = unsafe min(target.count - filled, bytes.count)
        guard room > 0 || spare.count - spareStart < Self.mostSpare else {
            isPaused = true
            return Int(inlet_curl_pause)
        }
        if room > 0 {
            let free = unsafe UnsafeMutableRawBufferPointer(rebasing: target[filled..<(filled + room)])
            unsafe free.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<room]))
            filled += room
        }
        if room < bytes.count {
            // Bytes that were read are freed here, because the buffer would grow if it never became empty.
            if spareStart >= Self.mostSpare {
                spare.removeFirst(spareStart)
                spareStart = 0
            }
            unsafe spare += bytes[room...]
        }
        return bytes.count
    }

    // MARK: The body

    /// Moves the received data into `target`, or receives it there while `wait` drives the transfer.
    ///
    /// - Parameter wait: returns true when its argument does, or false if the transfer must be given up.
    /// - Returns: the number of bytes that arrived; 0 at the end of the body; nil if `wait` gave up.
    @unsafe func read(into target: UnsafeMutableRawBufferPointer, wait: (() -> Bool) -> Bool) -> Int? {
        if spareStart < spare.count {
            let count = min(target.count, spare.count - spareStart)
            unsafe spare.withUnsafeBytes {
                unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[spareStart..<(spareStart + count)]))
            }
            spareStart += count
            if spareStart == spare.count {
                spare.removeAll(keepingCapacity: true)
                spareStart = 0
            }
            return count
        }
        guard result == nil else { return 0 }
        unsafe self.target = target
        filled = 0
        defer { unsafe self.target = UnsafeMutableRawBufferPointer(start: nil, count: 0) }
        if isPaused {
            isPaused = false
            unsafe inlet_curl_easy_pause(easy, CURLPAUSE_CONT)
        }
        return wait { filled > 0 || result != nil } ? filled : nil
    }
}

/// The origin of an address.
enum HTTPLeader: Sendable, Hashable {
    /// The user, who configured the source's address.
    case user
    /// A server at an address, which is nil behind a proxy.
    case server(IPAddress?)

    /// Returns the more public of the two. `other` is a server's address, nil behind a proxy.
    func orMorePublic(_ other: IPAddress?) -> HTTPLeader {
        guard case .server(let address) = self else { return .server(other) }
        guard let address, let other else { return .server(nil) }
        return .server(other.space < address.space ? other : address)
    }

    /// Returns the more public of the two.
    func orMorePublic(_ other: HTTPLeader) -> HTTPLeader {
        if case .server(let address) = other { orMorePublic(address) } else { self }
    }
}
