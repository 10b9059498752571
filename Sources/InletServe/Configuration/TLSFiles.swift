package import InletCore
import InletSystem
package import InletTLS

/// The files of a server's certificate and its key.
package struct TLSFiles: Sendable, Hashable {
    /// PEM of the certificate, and behind it of those that lead to its authority.
    package var certificate: String
    /// PEM of its private key, which other users may not read.
    package var key: String
    private static let longest = 262_144

    package init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }

    /// The signatures of the files as they are now.
    var signatures: [FileSignature] { [FileSignature(path: certificate), FileSignature(path: key)] }

    /// Reads the pair.
    ///
    /// - Throws: ``InletError`` if it cannot be read or used.
    package func load() throws(InletError) -> TLSServerCertificate {
        let (certificate, key) = try read()
        return try TLSServerCertificate(certificate: certificate, key: key)
    }

    /// Reads the pair for connections from now on.
    ///
    /// - Throws: ``InletError`` if it cannot be read or used; the pair of before stays.
    package func load(into other: TLSServerCertificate) throws(InletError) {
        let (certificate, key) = try read()
        try other.replace(certificate: certificate, key: key)
    }

    private func read() throws(InletError) -> (certificate: [UInt8], key: [UInt8]) {
        let advice = "tls: names two files of PEM."
        let certificate = try RegularFile.read(
            certificate, most: Self.longest, content: "a certificate", advice: advice)
        let key = try RegularFile.read(
            key, most: Self.longest, content: "a private key", advice: advice, isPrivate: true)
        return (certificate, key)
    }
}
