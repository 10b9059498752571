import COpenSSL

/// The system's OpenSSL.
package enum TLSLibrary {
    /// Loads OpenSSL and has it keep its memory when the process ends, before another library that uses it starts
    /// threads: one of these may still run then.
    ///
    /// Does nothing if OpenSSL is not installed.
    package static func load() { _ = inlet_openssl_load() }
}
