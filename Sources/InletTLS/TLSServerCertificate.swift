import COpenSSL
package import InletCore
import Synchronization

// Unsafe: owns a context of OpenSSL.
/// The certificate of a server of TLS 1.2 and later, and its key, which may be replaced while it serves: connections
/// that are open keep what they began with. Safe from any thread.
@safe package final class TLSServerCertificate: Sendable {
    /// OpenSSL's context, which connections keep alive.
    @safe private struct Context: @unchecked Sendable {
        // Proof of Sendable: OpenSSL counts the owners of a context with atomic operations, and nothing changes one
        // after it was made (https://docs.openssl.org/3.0/man7/openssl-threads/).
        let pointer: OpaquePointer
    }

    private let context: Mutex<Context>

    /// - Parameters:
    ///   - certificate: the certificate and those that lead to its authority, as PEM.
    ///   - key: its private key without a passphrase, as PEM.
    /// - Throws: ``InletError/Code/unsupported`` if OpenSSL is not installed;
    ///   ``InletError/Code/invalidConfiguration`` if they are no pair.
    package init(certificate: [UInt8], key: [UInt8]) throws(InletError) {
        context = Mutex(try Self.context(certificate, key))
    }

    deinit { context.withLock { unsafe inlet_tls_free_context($0.pointer) } }

    /// Takes another pair for connections from now on.
    ///
    /// - Throws: as ``init(certificate:key:)``; the pair of before stays.
    package func replace(certificate: [UInt8], key: [UInt8]) throws(InletError) {
        let new = try Self.context(certificate, key)
        let old = context.withLock { context in
            defer { context = new }
            return context
        }
        unsafe inlet_tls_free_context(old.pointer)
    }

    /// Makes a connection, which the caller owns, and the memory of its encrypted bytes, which it owns.
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
                "The certificate cannot be used\(reason). Name a PEM file with it, and behind it those that lead to "
                    + "its authority.")
        case INLET_TLS_BAD_KEY:
            throw InletError(
                .invalidConfiguration,
                "The key cannot be used\(reason). Name a PEM file with a private key that has no passphrase.")
        case INLET_TLS_NO_PAIR:
            throw InletError(
                .invalidConfiguration, "The key is not that of the certificate\(reason). Name files of one pair.")
        default: throw InletError(.resourceExhausted, "There is not enough memory for TLS.")
        }
    }
}
