import InletCore
import InletHTTPServer
import NIOHTTP1

/// The operation that a request asks for, by its method and path. Pure.
enum ServeRoute: Equatable {
    case page, health, readiness, metrics, document
    case list, add, discover, tryOut, events, reload, logLevel, setLogLevel
    case show(String), set(String), remove(String)
    /// Discards the API's changes of a camera, so that the file's settings apply again.
    case revert(String)
    case snapshot(String), stream(String), statistics(String)
    case restart(String), pause(String), resume(String)
    case record(String), endRecording(String), recordings(String)
    case fragments(String), history(String)
    case playlist(String), segment(String, file: String)
    case recording(String, file: String), deleteRecording(String, file: String)
    /// The offer of a WebRTC viewer, and the session's further requests: candidates, the end, and the preceding request
    /// for ICE servers.
    case watch(String), session(String)

    /// The reason why there is no route.
    enum Failure: Error, Equatable {
        case unknown
        /// The path supports only other methods, which are listed.
        case method([String])
    }

    /// Returns the route of a request. HEAD is treated like GET.
    static func find(_ method: HTTPMethod, _ path: String) throws(Failure) -> ServeRoute {
        let methods = routes(of: path)
        guard !methods.isEmpty else { throw .unknown }
        let wanted = method == .HEAD ? "GET" : method.rawValue
        guard let route = methods.first(where: { $0.method == wanted })?.route else {
            throw .method(methods.map(\.method))
        }
        return route
    }

    private static func routes(of path: String) -> [(method: String, route: ServeRoute)] {
        switch path {
        case "/": return [("GET", .page)]
        case "/healthz": return [("GET", .health)]
        case "/readyz": return [("GET", .readiness)]
        case "/metrics": return [("GET", .metrics)]
        case "/v1/openapi.json": return [("GET", .document)]
        case "/v1/cameras": return [("GET", .list), ("POST", .add)]
        case "/v1/discover": return [("POST", .discover)]
        case "/v1/try": return [("POST", .tryOut)]
        case "/v1/events": return [("GET", .events)]
        case "/v1/reload": return [("POST", .reload)]
        case "/v1/log-level": return [("GET", .logLevel), ("PUT", .setLogLevel)]
        default: break
        }
        let parts = path.split(atByte: "/")
        guard parts.count >= 4, parts.count <= 6, parts[0].isEmpty, parts[1] == "v1", parts[2] == "cameras",
            !parts[3].isEmpty
        else { return [] }
        // Camera names need no escapes, so a text with escapes is not a camera's name.
        let name = String(parts[3])
        if parts.count == 6 { return routes(of: name, parts[4], String(parts[5])) }
        guard parts.count == 5 else {
            return [("GET", .show(name)), ("PUT", .set(name)), ("DELETE", .remove(name))]
        }
        switch parts[4] {
        case "snapshot.jpg": return [("GET", .snapshot(name))]
        case "stream.mjpeg": return [("GET", .stream(name))]
        case "stream.mp4": return [("GET", .fragments(name))]
        case "stream.m3u8": return [("GET", .playlist(name))]
        case "changes": return [("DELETE", .revert(name))]
        case "statistics": return [("GET", .statistics(name))]
        case "history": return [("GET", .history(name))]
        case "restart": return [("POST", .restart(name))]
        case "pause": return [("POST", .pause(name))]
        case "resume": return [("POST", .resume(name))]
        case "record": return [("POST", .record(name)), ("DELETE", .endRecording(name))]
        case "recordings": return [("GET", .recordings(name))]
        case "whep": return [("POST", .watch(name)), ("OPTIONS", .session(name))]
        default: return []
        }
    }

    /// Returns the routes of a camera's items, such as recordings.
    private static func routes(
        of name: String, _ kind: Substring, _ item: String
    ) -> [(method: String, route: ServeRoute)] {
        guard !item.isEmpty else { return [] }
        switch kind {
        case "hls": return [("GET", .segment(name, file: item))]
        case "recordings":
            return [("GET", .recording(name, file: item)), ("DELETE", .deleteRecording(name, file: item))]
        case "whep": return ["PATCH", "DELETE", "OPTIONS"].map { ($0, .session(name)) }
        default: return []
        }
    }

    /// The scope that a client needs; nil if all clients are answered.
    var scope: AccessScope? {
        switch self {
        case .health, .readiness: nil
        case .page, .metrics, .document, .list, .events, .logLevel, .show, .snapshot, .stream, .statistics,
            .recordings, .recording, .fragments, .playlist, .segment, .history, .watch, .session:
            .view
        case .restart, .pause, .resume, .record, .endRecording: .control
        case .add, .set, .remove, .revert, .reload, .setLogLevel, .discover, .tryOut, .deleteRecording: .admin
        }
    }

    /// Whether the request changes anything.
    var isChange: Bool { scope.map { $0 > .view } ?? false }

    /// Whether pages of other sites must not send the request: true for changes, and for sessions, which use resources.
    var isForOwnPages: Bool {
        switch self {
        case .watch, .session: true
        default: isChange
        }
    }

    /// The name of the camera; nil if the request concerns no camera or the body contains the name.
    var camera: String? {
        switch self {
        case .page, .health, .readiness, .metrics, .document, .list, .add, .events, .reload, .logLevel, .setLogLevel,
            .discover, .tryOut:
            nil
        case .show(let name), .set(let name), .remove(let name), .revert(let name), .snapshot(let name),
            .stream(let name), .statistics(let name), .restart(let name), .pause(let name), .resume(let name),
            .record(let name), .endRecording(let name), .recordings(let name), .fragments(let name),
            .recording(let name, _),
            .deleteRecording(let name, _), .playlist(let name), .segment(let name, _), .history(let name),
            .watch(let name), .session(let name):
            name
        }
    }

    /// Whether the request concerns all cameras.
    var concernsAll: Bool { [.reload, .logLevel, .setLogLevel, .discover].contains(self) }

    /// The name of the action in the audit log, and its camera. Changes, viewers and network accesses are logged; nil
    /// for other requests.
    var change: (action: String, camera: String?)? {
        switch self {
        case .add: ("add", nil)
        case .set(let name): ("change", name)
        case .remove(let name): ("remove", name)
        case .revert(let name): ("revert", name)
        case .restart(let name): ("restart", name)
        case .pause(let name): ("pause", name)
        case .resume(let name): ("resume", name)
        case .record(let name): ("record", name)
        case .endRecording(let name): ("end-recording", name)
        case .deleteRecording(let name, _): ("delete-recording", name)
        case .watch(let name): ("watch", name)
        case .discover: ("discover", nil)
        case .tryOut: ("try", nil)
        case .reload: ("reload", nil)
        case .setLogLevel: ("log-level", nil)
        default: nil
        }
    }

    /// Whether the request has a JSON body.
    var takesBody: Bool {
        switch self {
        case .add, .set, .setLogLevel, .record, .tryOut: true
        default: false
        }
    }
}
