import InletCore
import InletHTTPServer
import NIOHTTP1

/// Viewers by WebRTC, which use WHEP.
extension ServeService {
    /// Passes a request below a camera's `/whep` to the camera's WebRTC service.
    func beginWebRTC(of name: String, _ route: ServeRoute, _ request: HTTPRequest) -> HTTPStep {
        guard request.isTrial == false else {
            return .answer(.problem(.badRequest, "A viewer changes nothing. Remove dry-run."))
        }
        guard let connection else { return .answer(.problem(.serviceUnavailable, "The server is shutting down.")) }
        let webRTC: any CameraWebRTC
        do throws(InletError) {
            webRTC = try daemon.webRTC.webRTC(of: name)
        } catch {
            return .answer(error.code == .notFound ? .noCamera(name) : Self.noWebRTC(error))
        }
        let note = auditor(of: route, request)
        let whep = webRTC.makeService(for: connection, loop: daemon.loop) { status in
            note?(HTTPAnswer(HTTPResponseStatus(statusCode: status)), nil)
        }
        self.whep = whep
        return whep.begin(request, isKnown: true)
    }

    /// Returns the response with the reason why no camera is sent by WebRTC. A build without WebRTC is not an error of
    /// the daemon.
    private static func noWebRTC(_ error: InletError) -> HTTPAnswer {
        error.code == .unsupported
            ? .problem(.notFound, error.message) : .problem(.conflict, error.description)
    }
}
