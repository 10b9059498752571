#if GStreamer
import Inlet
import InletServe
import WebRTCSink

extension WHEPHost: CameraWebRTC {
    /// Creates the host that sends a camera of `inlet serve`.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for options that the daemon sets itself.
    convenience init(_ request: CameraWebRTCRequest) throws(InletError) {
        let sink: any FrameSinkConfiguration
        do {
            sink = try PluginRegistry.command.sink(request.uri)
        } catch {
            throw InletError(wrapping: error, operation: "reading the options")
        }
        guard var configuration = sink as? WebRTCSinkConfiguration,
            request.uri.prefix(upToByte: "?").isSameBytes(as: "webrtc:"), configuration.token == nil,
            configuration.origins.isEmpty
        else {
            throw InletError(
                .invalidConfiguration,
                "Write webrtc: with options only, such as webrtc:?viewers=20. Address and tokens are those of the "
                    + "server, and pages of other sites are not served.")
        }
        configuration.host = request.host
        self.init(
            configuration, path: request.path, places: Places(enter: request.enter, leave: request.leave),
            start: request.start)
    }
}
#endif
