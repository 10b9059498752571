package import InletCore

/// A server that sends cameras' packets by RTSP to other programs. Safe from any thread.
///
/// The application provides the implementation, as it does for sources: this module contains no RTSP server.
package protocol RestreamServer: AnyObject, Sendable {
    /// The port that the server listens on.
    var port: Int { get }
    /// Closes all connections. Returns when none is left, or after five seconds. Blocks.
    func stop()
}

/// The reader's end of a stream, into which packets are pushed. Safe from any thread; packets come from one thread at a
/// time.
package protocol RestreamOutlet: AnyObject, Sendable {
    /// Passes on a packet. With the first packet, it waits until the reader is ready or has left.
    ///
    /// - Returns: false if the packet was not accepted because too many are waiting or the reader has left.
    func push(_ packet: EncodedPacket) -> Bool
    /// Accepts no more packets, and ends a wait in ``push(_:)``. The connection stays open for a response. Returns
    /// immediately.
    func leave()
    /// Closes the reader's connection unless ``leave()`` was called. Returns immediately.
    func end()
}

/// The reason why a reader gets no stream, as the status of the RTSP response (RFC 2326, 7.1.1).
package enum RestreamRefusal: Int, Error {
    case notFound = 404
    case unsupportedMediaType = 415
    case serviceUnavailable = 503
    case gatewayTimeout = 504
}

/// The parameters of a ``RestreamServer``, and the functions that it calls.
package struct RestreamRequest: Sendable {
    package var host: String
    /// The port; 0 lets the system choose one.
    package var port: Int
    /// The passwords of the users by name. If empty, no login is required.
    package var users: [String: String]
    /// The maximum number of connections at a time.
    package var connections: Int
    /// Opens a camera for a reader, and blocks until the properties of its packets are known. Packets arrive as soon as
    /// the outlet accepts them.
    package var open:
        @Sendable (_ user: String?, _ camera: String, any RestreamOutlet) throws(RestreamRefusal) -> RestreamReader
    /// Decides which connections are kept and which requests are answered.
    package var door: RestreamDoor
    /// Returns whether a camera exists and a user may watch it; nil is a client that need not log in. Does not block.
    package var permits: @Sendable (_ user: String?, _ camera: String) -> Bool

    /// Starts a server.
    package typealias Maker = @Sendable (RestreamRequest) throws(InletError) -> any RestreamServer
}
