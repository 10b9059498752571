import Inlet

/// The exit status of the process, by the numbers of sysexits.h.
enum ExitStatus: Int32 {
    case success = 0
    case usage = 64
    case badData = 65
    case noInput = 66
    case noHost = 68
    case unavailable = 69
    case `internal` = 70
    case inputOutput = 74
    case temporary = 75
    case `protocol` = 76
    case noPermission = 77
    /// 128 plus the number of SIGINT, as in shells.
    case interrupted = 130

    init(_ error: InletError) {
        switch error.code {
        case .invalidConfiguration: self = .usage
        case .malformedData: self = .badData
        case .notFound: self = .noInput
        case .unsupported: self = .unavailable
        case .resourceExhausted, .inputOutput: self = .inputOutput
        case .busy, .noBandwidth, .disconnected, .timedOut, .connectionRefused, .serverUnavailable, .sessionLost,
            .streamEnded, .formatChanged:
            self = .temporary
        case .hostNotFound: self = .noHost
        case .tlsFailed: self = .protocol
        case .permissionDenied, .authenticationFailed, .declined, .addressRefused: self = .noPermission
        case .cancelled: self = .interrupted
        default: self = .internal
        }
    }

    /// The name as words, after sysexits.h.
    var name: String {
        switch self {
        case .success: "success"
        case .usage: "usage"
        case .badData: "bad data"
        case .noInput: "no such input"
        case .noHost: "no such host"
        case .unavailable: "unavailable"
        case .internal: "internal"
        case .inputOutput: "input or output"
        case .temporary: "temporary"
        case .protocol: "protocol"
        case .noPermission: "permission"
        case .interrupted: "interrupted"
        }
    }
}
