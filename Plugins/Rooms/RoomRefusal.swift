import InletCore

/// The reason why a room's server rejects or removes a member.
struct RoomRefusal: Sendable, Hashable {
    /// The reason as a word.
    enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Another member has the name.
        case taken
        /// The room, the server or the address has its maximum number of members.
        case full
        /// The member sends more than is allowed.
        case flood
        /// The member reads too slowly.
        case slow
        /// A message is malformed.
        case malformed
        /// The member returned over another connection.
        case replaced
        /// The server is shutting down.
        case ending
        /// Any other reason, from a later version of the server.
        case other
    }

    var reason: Reason
    /// The reason in readable form.
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

    /// The error for a client that receives this refusal.
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

    /// Whether another attempt may succeed without a change.
    var isTemporary: Bool {
        switch reason {
        case .taken, .full, .flood, .slow, .ending: true
        case .malformed, .replaced, .other: false
        }
    }
}
