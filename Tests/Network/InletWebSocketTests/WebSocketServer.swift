import Foundation
import ReferenceTools

/// WebSocket servers: a correct one with aiohttp, with and without TLS, and one whose misbehaviour the path selects.
final class WebSocketServer: Sendable {
    /// The process, for its log and its commands.
    let process: PeerProcess
    /// The correct server without TLS, `ws://HOST:PORT`.
    let address: String
    /// The correct server with TLS.
    let secureAddress: String
    /// The correct server with a certificate for another name.
    let elsewhereAddress: String
    /// The server that misbehaves.
    let rawAddress: String
    /// The PEM file of the authority of ``secureAddress``, and that of ``elsewhereAddress``.
    let authority, otherAuthority: String

    /// The interpreter with the packages of `Tests/Peers/requirements.txt`.
    static let python = PeerProcess.python

    /// Starts the servers and waits until they listen.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    init() throws {
        process = try PeerProcess("websocket-server.py", python: Self.python)
        let ready = process.ready
        func port(_ name: String) -> Int { ready[name]?.int ?? 0 }
        address = "ws://127.0.0.1:\(port("port"))"
        secureAddress = "wss://127.0.0.1:\(port("secure"))"
        elsewhereAddress = "wss://127.0.0.1:\(port("elsewhere"))"
        rawAddress = "ws://127.0.0.1:\(port("raw"))"
        authority = ready["authority"]?.text ?? ""
        otherAuthority = ready["other"]?.text ?? ""
    }

    /// Ends the servers at once.
    func stop() { process.stop() }
}
