import InletCore
import InletHTTP
import NIOHTTP1

/// Viewers by WebRTC, who ask by WHEP.
extension ServeService {
    /// Hands a request below a camera's `/whep` to what sends that camera.
    func beginWebRTC(of name: String, _ route: ServeRoute, _ request: HTTPRequest) -> HTTPStep {
        guard request.isTrial == false else {
            return .answer(.problem(.badRequest, "A viewer changes nothing: leave out dry-run."))
        }
        guard let connection else { return .answer(.problem(.serviceUnavailable, "The server is about to end.")) }
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

    /// Returns the response that says why no camera is sent by WebRTC. That a build has none is no fault of the daemon.
    private static func noWebRTC(_ error: InletError) -> HTTPAnswer {
        error.code == .unsupported
            ? .problem(.notFound, error.message) : .problem(.conflict, error.description)
    }
}
