package import InletCore
import InletSystem
package import InletTLS

/// The files of a server's certificate and its key.
package struct TLSFiles: Sendable, Hashable {
    /// The PEM file of the certificate, followed by its intermediate certificates.
    package var certificate: String
    /// The PEM file of the private key. Other users must not be able to read it.
    package var key: String
    private static let longest = 262_144

    package init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }

    /// The current signatures of the files, for detecting changes.
    var signatures: [FileSignature] { [FileSignature(path: certificate), FileSignature(path: key)] }

    /// Reads the certificate and key.
    ///
    /// - Throws: ``InletError`` if they cannot be read or used.
    package func load() throws(InletError) -> TLSServerCertificate {
        let (certificate, key) = try read()
        return try TLSServerCertificate(certificate: certificate, key: key)
    }

    /// Reads the certificate and key for new connections.
    ///
    /// - Throws: ``InletError`` if they cannot be read or used. The previous pair then stays in use.
    package func load(into other: TLSServerCertificate) throws(InletError) {
        let (certificate, key) = try read()
        try other.replace(certificate: certificate, key: key)
    }

    private func read() throws(InletError) -> (certificate: [UInt8], key: [UInt8]) {
        let advice = "tls: must name two PEM files."
        let certificate = try RegularFile.read(
            certificate, most: Self.longest, content: "a certificate", advice: advice)
        let key = try RegularFile.read(
            key, most: Self.longest, content: "a private key", advice: advice, isPrivate: true)
        return (certificate, key)
    }
}
