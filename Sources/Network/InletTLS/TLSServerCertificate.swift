import COpenSSL
package import InletCore
import Synchronization

// Unsafe: owns a context of OpenSSL.
/// The certificate and key of a server of TLS 1.2 and later. They may be replaced while it serves: open connections
/// keep those that they began with. Safe from any thread.
@safe package final class TLSServerCertificate: Sendable {
    /// OpenSSL's context, which connections keep alive.
    @safe private struct Context: @unchecked Sendable {
        // Proof of Sendable: OpenSSL counts the owners of a context with atomic operations, and a context does not
        // change after it was made (https://docs.openssl.org/3.0/man7/openssl-threads/).
        let pointer: OpaquePointer
    }

    private let context: Mutex<Context>

    /// - Parameters:
    ///   - certificate: the certificate and its intermediate certificates, as PEM.
    ///   - key: its private key without a passphrase, as PEM.
    /// - Throws: ``InletError/Code/unsupported`` if OpenSSL is not installed; ``InletError/Code/invalidConfiguration``
    ///   if they do not match.
    package init(certificate: [UInt8], key: [UInt8]) throws(InletError) {
        context = Mutex(try Self.context(certificate, key))
    }

    deinit { context.withLock { unsafe inlet_tls_free_context($0.pointer) } }

    /// Replaces the pair for new connections.
    ///
    /// - Throws: as ``init(certificate:key:)``; the previous pair is then kept.
    package func replace(certificate: [UInt8], key: [UInt8]) throws(InletError) {
        let new = try Self.context(certificate, key)
        let old = context.withLock { context in
            defer { context = new }
            return context
        }
        unsafe inlet_tls_free_context(old.pointer)
    }

    /// Makes a connection, which the caller owns, and the memory of its encrypted bytes, which the connection owns.
    ///
    /// - Returns: nil if there is no memory.
    func makeConnection() -> (tls: OpaquePointer, incoming: OpaquePointer, outgoing: OpaquePointer)? {
        unsafe context.withLock { context in
            var incoming: OpaquePointer?
            var outgoing: OpaquePointer?
            guard let tls = unsafe inlet_tls_server_connection(context.pointer, &incoming, &outgoing),
                let incoming = unsafe incoming, let outgoing = unsafe outgoing
            else { return nil }
            return unsafe (tls, incoming, outgoing)
        }
    }

    private static func context(_ certificate: [UInt8], _ key: [UInt8]) throws(InletError) -> Context {
        guard inlet_openssl_load() else {
            throw InletError(
                .unsupported, "TLS needs OpenSSL 3, which could not be loaded. Install libssl3 (Debian).")
        }
        var fault = INLET_TLS_NO_FAULT
        if let context = unsafe inlet_tls_server_context(
            certificate, Int32(clamping: certificate.count), key, Int32(clamping: key.count), &fault)
        {
            return unsafe Context(pointer: context)
        }
        let reason = unsafe inlet_tls_reason().map { unsafe ": \(String(cString: $0))" } ?? ""
        switch fault {
        case INLET_TLS_BAD_CERTIFICATE:
            throw InletError(
                .invalidConfiguration,
                "The certificate cannot be used\(reason). Give a PEM file with it, followed by the intermediates of "
                    + "its authority.")
        case INLET_TLS_BAD_KEY:
            throw InletError(
                .invalidConfiguration,
                "The key cannot be used\(reason). Give a PEM file with a private key that has no passphrase.")
        case INLET_TLS_NO_PAIR:
            throw InletError(
                .invalidConfiguration, "The key does not match the certificate\(reason). Give files of one pair.")
        default: throw InletError(.resourceExhausted, "There is not enough memory for TLS.")
        }
    }
}
