import InletCore
import InletHTTPServer
import Synchronization

/// Finds the WebRTC sender of a camera, and makes it for the first viewer. Safe from any thread.
final class WebRTCDirectory: Sendable {
    private let make: CameraWebRTCRequest.Maker?
    private let settings: ServerSettings
    private let cameraSet: CameraSet
    private let streams: StreamCount
    private let entries = Mutex<[String: Entry]>([:])

    /// The sender of one camera. A camera that is removed and added again is a different one, with other pictures.
    private struct Entry {
        var view: PictureHub
        var webRTC: any CameraWebRTC
    }

    /// - Parameters:
    ///   - make: makes a sender; nil for a build without WebRTC.
    ///   - streams: counts the viewers.
    init(_ make: CameraWebRTCRequest.Maker?, _ settings: ServerSettings, cameraSet: CameraSet, streams: StreamCount) {
        (self.make, self.settings, self.cameraSet, self.streams) = (make, settings, cameraSet, streams)
    }

    /// Returns the WebRTC sender of a camera.
    ///
    /// - Throws: ``InletError/Code/notFound`` if there is no such camera; ``InletError/Code/unsupported`` for a build
    ///   without WebRTC; an error of the options, such as a missing file of a secret.
    func webRTC(of name: String) throws(InletError) -> any CameraWebRTC {
        guard let view = cameraSet.views[name] else { throw InletError(.notFound, "There is no such camera.") }
        guard let make else { throw InletError(.unsupported, Self.isAbsent) }
        if let entry = entries.withLock({ $0[name] }), entry.view === view { return entry.webRTC }
        let made = try make(request(of: name))
        return entries.withLock { entries in
            if let entry = entries[name], entry.view === view { return entry.webRTC }
            // Removes the senders of cameras that were removed.
            entries = entries.filter { cameraSet.views[$0.key] === $0.value.view }
            entries[name] = Entry(view: view, webRTC: made)
            return made
        }
    }

    private static let isAbsent = """
        This build has no WebRTC. Install a package that has it, or build with 'swift build --traits GStreamer'. Without \
        it, watch cameras by stream.mjpeg, stream.mp4 or stream.m3u8.
        """

    private func request(of name: String) -> CameraWebRTCRequest {
        CameraWebRTCRequest(
            uri: settings.webRTC, host: settings.host, path: "/v1/cameras/\(name)/whep",
            enter: { [streams] in streams.begin(.webrtc) }, leave: { [streams] in streams.end(.webrtc) },
            start: { [weak cameraSet] sink throws(InletError) in
                guard let camera = await cameraSet?.camera(name) else {
                    throw InletError(.notFound, "The camera was removed.")
                }
                try await camera.attachWebRTC(sink)
                // Throws if the camera cannot be opened. Otherwise a viewer would wait without learning the reason.
                try await camera.waitUntilOpen()
            })
    }
}
