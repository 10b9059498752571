import InletCore

/// Why the server of a room does not take a member, or no longer has it.
struct RoomRefusal: Sendable, Hashable {
    /// The reason as a word.
    enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Another has the name.
        case taken
        /// The room, the server or the address has as many members as it may have.
        case full
        /// The member says more than it may.
        case flood
        /// The member reads too slowly.
        case slow
        /// A message cannot be read.
        case malformed
        /// The member came again, by another connection.
        case replaced
        /// The server ends.
        case ending
        /// Anything that a later server says.
        case other
    }

    var reason: Reason
    /// The reason for people.
    var text: String
    var retryAfter: Duration?

    /// The code in the close frame (RFC 6455, 7.4).
    var code: UInt16 {
        switch reason {
        case .full, .slow: 1013
        case .ending: 1001
        case .malformed: 1007
        case .taken, .flood, .replaced, .other: 1008
        }
    }

    /// The error of a client that gets it.
    var error: InletError {
        let code: InletError.Code =
            switch reason {
            case .taken: .busy
            case .full, .flood: .resourceExhausted
            case .slow, .ending: .disconnected
            case .malformed: .malformedData
            case .replaced, .other: .streamEnded
            }
        var error = InletError(code, text)
        error.retryAfter = retryAfter
        return error
    }

    /// Whether another attempt may succeed by itself.
    var isTemporary: Bool {
        switch reason {
        case .taken, .full, .flood, .slow, .ending: true
        case .malformed, .replaced, .other: false
        }
    }
}
