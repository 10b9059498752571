/// How the certificates of relays that are reached over TLS (`turns:`) are checked.
public struct RelayTLS: Sendable, Hashable {
    /// The path of a PEM file with certificate authorities. The default, nil, is the system's.
    public var authorities: String?
    /// Whether the certificate is checked: that an authority vouches for it, and that it is for the relay's name. The
    /// default is true.
    public var isVerified = true

    /// Creates the default: checked by the system's authorities.
    public init() {}
}
