import InletCore

/// The `Session` header of a reply (RFC 2326, section 12.37).
package struct SessionHeader: Sendable, Equatable {
    /// The opaque number of the session.
    package var id: [UInt8]
    /// After how many seconds without a request the server ends the session. The default is 60.
    package var timeout: Int

    /// The time-out that applies if none is stated (RFC 2326, section 12.37).
    package static let defaultTimeout = 60

    /// Reads the value of the header.
    ///
    /// - Returns: nil if there is no number of a session.
    package init?(_ value: [UInt8]) {
        let parts = HeaderText.split(value, at: ";", limit: 16)
        guard let first = parts.first, !first.isEmpty, first.count <= 1024 else { return nil }
        id = first
        timeout = Self.defaultTimeout
        for part in parts.dropFirst() {
            let (name, value) = HeaderText.pair(part)
            guard TextBytes.isSame(name, ignoringCase: "timeout"), let value else { continue }
            // Some servers write a fraction or a unit after the number.
            guard let seconds = TextBytes.number(value.prefix(while: \.isASCIIDigit)), seconds > 0 else { continue }
            timeout = seconds
        }
    }
}

extension SessionHeader: CustomStringConvertible, CustomDebugStringConvertible {
    /// The time-out only: anyone with the number can take over the session.
    package var description: String { "\(Redaction.mark);timeout=\(timeout)" }

    /// The same as ``description``.
    package var debugDescription: String { description }
}
