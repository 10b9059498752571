/// The addresses to which a server may refer by a redirect or a playlist.
public enum PrivateAddresses: String, ChoiceOptionValue {
    /// Only to addresses at least as public as its own: from a public address only to public ones; from a private
    /// network neither to link-local addresses, such as 169.254.169.254, nor to this machine.
    case follow
    /// To public addresses, and to its own.
    case deny
    /// To any address.
    case allow
}
