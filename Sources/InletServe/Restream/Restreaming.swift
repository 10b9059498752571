package import InletCore

/// A server that hands on cameras' packets by RTSP to other programs. Safe from any thread.
///
/// It comes from above, as sources do: this module knows no RTSP server.
package protocol RestreamServer: AnyObject, Sendable {
    /// The port that it listens at.
    var port: Int { get }
    /// Closes all connections, and returns when none is left, after five seconds at most. Blocks.
    func stop()
}

/// A reader's end of a stream, which packets are pushed into. Safe from any thread; packets come from one at a time.
package protocol RestreamOutlet: AnyObject, Sendable {
    /// Hands over a packet. Waits until the reader is ready for the first one, and not longer than it is there.
    ///
    /// - Returns: false if it was not taken: too many wait already, or the reader has left.
    func push(_ packet: EncodedPacket) -> Bool
    /// Takes no more packets, and ends a wait in ``push(_:)``. The connection stays, for an answer. Returns at once.
    func leave()
    /// Closes the reader's connection, unless it was left. Returns at once.
    func end()
}

/// Why a reader gets no stream, as the status of RTSP's answer (RFC 2326, 7.1.1).
package enum RestreamRefusal: Int, Error {
    case notFound = 404
    case unsupportedMediaType = 415
    case serviceUnavailable = 503
    case gatewayTimeout = 504
}

/// What is wanted of a ``RestreamServer``, and what it asks.
package struct RestreamRequest: Sendable {
    package var host: String
    /// 0 lets the system choose one.
    package var port: Int
    /// The passwords of the users by name; with none, nobody is asked to log in.
    package var users: [String: String]
    /// The most connections at a time.
    package var connections: Int
    /// Opens a camera for a reader, and blocks until it is known what the packets are. They come as soon as the outlet
    /// takes them.
    package var open:
        @Sendable (_ user: String?, _ camera: String, any RestreamOutlet) throws(RestreamRefusal) -> RestreamReader
    /// Decides which connections are kept, and which requests are answered.
    package var door: RestreamDoor
    /// Returns whether there is a camera of this name that a user may watch; nil stands for who need not log in. Does
    /// not block.
    package var permits: @Sendable (_ user: String?, _ camera: String) -> Bool

    /// Starts a server.
    package typealias Maker = @Sendable (RestreamRequest) throws(InletError) -> any RestreamServer
}
