/// How a client of TLS checks its server, and how its errors name that server and the options that matter.
package struct TLSClientSettings: Sendable, Hashable {
    /// The path of a PEM file with certificate authorities. The default, nil, is the system's.
    package var authorities: String?
    /// Whether the certificate is checked: that an authority vouches for it, and that it is for the server's name. The
    /// default is true.
    package var isVerified = true
    /// What errors call the server. The default is "server".
    package var peer = "server"
    /// What needs TLS, for the error of a system without OpenSSL. The default is "TLS".
    package var purpose = "TLS"
    /// The option that names the file of authorities. The default is "tls-ca".
    package var authoritiesOption = "tls-ca"
    /// What to try if the certificate is not trusted: one sentence. The default, nil, names ``authoritiesOption``.
    package var trustAdvice: String?
    /// The most time for the handshake. The default is five seconds.
    package var limit: Duration = .seconds(5)

    /// Makes the default: checked by the system's authorities.
    package init() {}
}
