/// How a TLS client checks its server, and how its errors call the server and the relevant options.
package struct TLSClientSettings: Sendable, Hashable {
    /// The path of a PEM file with certificate authorities. The default, nil, is the system's.
    package var authorities: String?
    /// Whether the certificate is checked: that an authority has signed it, and that it was issued for the server's
    /// name. The default is true.
    package var isVerified = true
    /// The word for the server in errors. The default is "server".
    package var peer = "server"
    /// The feature that needs TLS, for the error of a system without OpenSSL. The default is "TLS".
    package var purpose = "TLS"
    /// The option for the file of authorities. The default is "tls-ca".
    package var authoritiesOption = "tls-ca"
    /// The advice if the certificate is not trusted: one sentence. The default, nil, is about ``authoritiesOption``.
    package var trustAdvice: String?
    /// The time limit of the handshake. The default is five seconds.
    package var limit: Duration = .seconds(5)

    /// Makes the default settings, with the system's authorities.
    package init() {}
}
