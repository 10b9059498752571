package import InletCore
package import InletHTTPServer
package import NIOCore

/// Sends one camera by WebRTC to viewers that use WHEP. It outlives the captures of its camera. Safe from any thread.
///
/// The application provides the implementation, as it does for sources: this module depends on no media engine.
package protocol CameraWebRTC: AnyObject, Sendable {
    /// Returns the service for requests of one connection below the camera's path. Called on the server's thread.
    ///
    /// - Parameter onOffer: called on that thread with the response's status for each offer whose body was read.
    func makeService(
        for connection: HTTPConnection, loop: any EventLoop, onOffer: @escaping (Int) -> Void
    ) -> any HTTPService
}

/// The parameters of a ``CameraWebRTC``.
package struct CameraWebRTCRequest: Sendable {
    /// The options, in the syntax of the sink `webrtc:`.
    package var uri: String
    /// The address that the daemon's server listens on. It decides whether media use only this machine or all its
    /// addresses.
    package var host: String
    /// The path to which offers are posted.
    package var path: String
    /// Counts a viewer as one of the daemon's streams, and returns whether another one is allowed.
    package var enter: @Sendable () -> Bool
    /// Called when a counted viewer has left.
    package var leave: @Sendable () -> Void
    /// Attaches the sink of the given configuration to the camera's capture unless it is already attached.
    package var start: @Sendable (any FrameSinkConfiguration) async throws(InletError) -> Void

    /// Makes a sender. Opens nothing.
    package typealias Maker = @Sendable (CameraWebRTCRequest) throws(InletError) -> any CameraWebRTC

    /// Returns a request that is used only to check the options.
    static func check(_ uri: String) -> CameraWebRTCRequest {
        CameraWebRTCRequest(
            uri: uri, host: "127.0.0.1", path: "/whep", enter: { false }, leave: {},
            start: { _ throws(InletError) in })
    }
}
