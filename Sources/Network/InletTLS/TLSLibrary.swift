import COpenSSL

/// The system's OpenSSL.
package enum TLSLibrary {
    /// Loads OpenSSL before another library that uses it starts threads, and makes it keep its memory when the process
    /// exits, because such a thread may still run then.
    ///
    /// Does nothing if OpenSSL is not installed.
    package static func load() { _ = inlet_openssl_load() }
}
