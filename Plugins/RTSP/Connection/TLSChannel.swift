import COpenSSL
import InletCore
import InletFFmpeg
import InletNetwork
import InletSystem

/// The check of a server's certificate.
struct TLSSettings: Sendable, Hashable {
    /// The path of a PEM file with certificate authorities; nil uses the system's.
    var authorities: String?
    /// Whether the certificate is verified. The default is true.
    var verifies = true
    /// The SHA-256 of the only accepted certificate, 32 bytes; it then needs no authority. The default, nil, accepts
    /// any trusted certificate.
    var pin: [UInt8]?
}

// Unsafe: owns a connection of OpenSSL.
/// TLS over a TCP connection, using the system's OpenSSL. Never blocks.
@safe final class TLSChannel: ByteChannel {
    private let connection: TCPChannel
    private let settings: TLSSettings
    private let tls: OpaquePointer
    private var isConnected = false
    private var hasEnded = false

    /// Whether OpenSSL must be able to send, in a handshake or a read.
    private(set) var wantsOutput = false

    /// Starts TLS over an established connection.
    ///
    /// - Parameter host: the name or numeric address that the certificate must match.
    /// - Throws: ``InletError/Code/unsupported`` if OpenSSL is not installed; ``InletError/Code/invalidConfiguration``
    ///   if the file contains no authorities.
    init(_ connection: TCPChannel, host: String, _ settings: TLSSettings) throws(InletError) {
        guard inlet_openssl_load() else {
            throw InletError(
                .unsupported, "rtsps needs OpenSSL 3, which cannot be loaded. Install libssl3 (Debian).")
        }
        // A pinned certificate is compared as a whole.
        let checksChain = settings.verifies && settings.pin == nil
        guard let context = unsafe inlet_tls_context(checksChain, settings.authorities) else {
            throw InletError(
                .invalidConfiguration,
                settings.authorities.map {
                    "Cannot read a certificate authority from '\($0)'. tls-ca names a PEM file."
                }
                    ?? "The system has no certificate authorities. Install ca-certificates, or name some with tls-ca.")
        }
        // The connection keeps the context alive.
        defer { unsafe inlet_tls_free_context(context) }
        guard
            let tls = unsafe inlet_tls_connection(
                context, connection.descriptor, host, IPAddress(literal: host) != nil)
        else {
            throw InletError(.resourceExhausted, "Not enough memory for a connection.")
        }
        self.connection = connection
        self.settings = settings
        unsafe self.tls = tls
        try flush()
    }

    deinit {
        // Here and below, OpenSSL writes to the socket and offers no way to suppress SIGPIPE.
        if isConnected, !hasEnded {
            _ = SignalGuard.run {
                unsafe inlet_tls_shut_down(tls)
                return -1
            }
        }
        unsafe inlet_tls_free(tls)
    }

    var descriptor: Int32 { connection.descriptor }
    var canSend: Bool { isConnected }
    var hasBuffered: Bool { unsafe inlet_tls_pending(tls) > 0 }

    /// Continues the handshake.
    func flush() throws(InletError) {
        wantsOutput = false
        guard !isConnected else { return }
        let result = Self.guarded { unsafe inlet_tls_handshake(tls) }
        guard result == SSL_ERROR_NONE else {
            if waits(result) { return }
            throw handshakeError(result)
        }
        if let pin = settings.pin {
            var found = [UInt8](repeating: 0, count: 32)
            guard unsafe inlet_tls_fingerprint(tls, &found), found == pin else {
                throw InletError(
                    .tlsFailed,
                    "The server's certificate is not the pinned one: its SHA-256 is \(Self.hexadecimal(found)). "
                        + "Check with the owner of the server before you change tls-pin.")
            }
        }
        isConnected = true
    }

    @unsafe func read(into target: UnsafeMutableRawBufferPointer) throws(InletError) -> ReadOutcome {
        guard !hasEnded else { return .ended }
        if !isConnected {
            try flush()
            guard isConnected else { return .wouldBlock }
        }
        wantsOutput = false
        var count: Int32 = 0
        let result = Self.guarded {
            unsafe inlet_tls_read(tls, target.baseAddress, Int32(clamping: target.count), &count)
        }
        // Also acknowledges a partial record, because the server may hold back the rest until then.
        connection.acknowledge()
        if result == SSL_ERROR_NONE { return .bytes(Int(count)) }
        if waits(result) { return .wouldBlock }
        hasEnded = true
        if result == SSL_ERROR_ZERO_RETURN { return .ended }
        throw InletError(
            .disconnected, "The connection was lost. Check the server and the network.",
            context: .init(operation: "SSL_read", nativeCode: result))
    }

    @unsafe func write(_ bytes: UnsafeRawBufferPointer) throws(InletError) -> Int {
        guard !hasEnded else {
            throw InletError(.disconnected, "The connection has ended.", context: .init(operation: "SSL_write"))
        }
        if !isConnected {
            try flush()
            guard isConnected else { return 0 }
        }
        var count: Int32 = 0
        let result = Self.guarded {
            unsafe inlet_tls_write(tls, bytes.baseAddress, Int32(clamping: bytes.count), &count)
        }
        if result == SSL_ERROR_NONE { return Int(count) }
        if waits(result) { return 0 }
        hasEnded = true
        throw InletError(
            .disconnected, "The connection was lost. Check the server and the network.",
            context: .init(operation: "SSL_write", nativeCode: result))
    }

    /// Calls OpenSSL so that the process is not killed if the other side is gone.
    private static func guarded(_ call: () -> Int32) -> Int32 {
        var result = SSL_ERROR_NONE
        // The guard checks for a signal only if the call failed.
        _ = SignalGuard.run {
            result = call()
            return result == SSL_ERROR_NONE ? 0 : -1
        }
        return result
    }

    /// Returns whether the result requires another call when the descriptor is ready.
    private func waits(_ result: Int32) -> Bool {
        wantsOutput = result == SSL_ERROR_WANT_WRITE
        return wantsOutput || result == SSL_ERROR_WANT_READ
    }

    private func handshakeError(_ result: Int32) -> InletError {
        hasEnded = true
        let context = InletError.Context(operation: "SSL_do_handshake", nativeCode: result)
        let remedy = "Name its authority with tls-ca, pin it with tls-pin, or accept any with tls-verify=false."
        if let reason = unsafe inlet_tls_distrust(tls).map({ unsafe String(cString: $0) }) {
            return InletError(
                .tlsFailed, "The server's certificate is not trusted: \(reason). \(remedy)", context: context)
        }
        let reason = unsafe inlet_tls_reason().map { unsafe String(cString: $0) } ?? "the server ended the connection"
        return InletError(
            .tlsFailed, "The TLS handshake failed: \(reason). Check that the port is the one for rtsps.",
            context: context)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.utf8.count == 1 ? "0\(digits)" : digits
        }.joined(separator: ":")
    }
}
