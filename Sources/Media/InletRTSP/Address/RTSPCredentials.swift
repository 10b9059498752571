import InletCore

/// A user name and a password. No description shows them.
package struct RTSPCredentials: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The name as its bytes, without escapes.
    package var user: [UInt8]
    /// The password as its bytes, without escapes.
    package var password: [UInt8]

    package init(user: [UInt8], password: [UInt8]) {
        self.user = user
        self.password = password
    }

    /// A mark instead of the credentials.
    package var description: String { Redaction.mark }

    /// A mark instead of the credentials.
    package var debugDescription: String { Redaction.mark }

    /// A mirror without children, since `dump` would show the password.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
