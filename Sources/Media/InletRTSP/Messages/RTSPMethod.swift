/// A method of RTSP 1.0 (RFC 2326, section 10) that this client sends.
package enum RTSPMethod: String, Sendable, Hashable, CaseIterable {
    case options = "OPTIONS"
    case describe = "DESCRIBE"
    case setup = "SETUP"
    case play = "PLAY"
    case pause = "PAUSE"
    case getParameter = "GET_PARAMETER"
    case setParameter = "SET_PARAMETER"
    case teardown = "TEARDOWN"
}
