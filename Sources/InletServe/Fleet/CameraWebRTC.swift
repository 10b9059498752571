package import InletCore
package import InletHTTP
package import NIOCore

/// Sends one camera by WebRTC to viewers that ask by WHEP. It outlives the captures of its camera. Safe from any
/// thread.
///
/// The plug-in that does so comes from above, as the source's do: this module knows no media engine.
package protocol CameraWebRTC: AnyObject, Sendable {
    /// Returns what answers the requests below the camera's path, of one connection. Called on the server's thread.
    ///
    /// - Parameter onOffer: called on that thread with the status of the answer to each offer whose body was read.
    func makeService(
        for connection: HTTPConnection, loop: any EventLoop, onOffer: @escaping (Int) -> Void
    ) -> any HTTPService
}

/// What is wanted of a ``CameraWebRTC``.
package struct CameraWebRTCRequest: Sendable {
    /// The options, as the sink `webrtc:` takes them.
    package var uri: String
    /// The address that the daemon's server listens at, by which media use this machine alone or all its addresses.
    package var host: String
    /// The path that offers are posted to.
    package var path: String
    /// Counts a viewer among the streams of the daemon, and returns whether there may be another one.
    package var enter: @Sendable () -> Bool
    /// Notes that a viewer that was counted has left.
    package var leave: @Sendable () -> Void
    /// Has the sink of a configuration attached to the camera's capture, unless one is.
    package var start: @Sendable (any FrameSinkConfiguration) async throws(InletError) -> Void

    /// Makes it. Opens nothing.
    package typealias Maker = @Sendable (CameraWebRTCRequest) throws(InletError) -> any CameraWebRTC

    /// A request of which nothing but the options is looked at.
    static func check(_ uri: String) -> CameraWebRTCRequest {
        CameraWebRTCRequest(
            uri: uri, host: "127.0.0.1", path: "/whep", enter: { false }, leave: {},
            start: { _ throws(InletError) in })
    }
}
