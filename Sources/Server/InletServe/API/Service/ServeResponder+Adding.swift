import InletCore
import InletHTTPServer
import NIOHTTP1
import NIOPosix

/// Operations that help to add a camera: searching for cameras and trying one out.
extension ServeResponder {
    /// How long cameras may take to answer a search.
    private static let searchTime = Duration.seconds(3)
    /// The maximum number of concurrent searches and try-outs. Each uses a thread and accesses the network.
    static let (mostSearches, mostTryOuts) = (1, 2)

    /// Searches the networks of this machine for cameras.
    func discover() async -> HTTPAnswer {
        guard let search else { return .problem(.conflict, "This build cannot search for cameras. Enter the address.") }
        guard searches.begin() else {
            return Self.busy("Another search for cameras is running. Try again in a few seconds.")
        }
        defer { searches.end() }
        let found: Result<FoundCameras, InletError>?
        do {
            found = try await NIOThreadPool.singleton.runIfActive { search.run(Self.searchTime) }
        } catch {
            found = nil
        }
        switch found {
        case .success(let found):
            return .json(
                .object([
                    ("cameras", .list(found.cameras.map(\.json))),
                    ("troubles", .list(found.troubles.map(JSONValue.text))),
                ]))
        case .failure(let error): return .problem(.conflict, error.description)
        case nil: return .problem(.conflict, "The daemon is shutting down.")
        }
    }

    /// Opens a source, takes one picture, and stores nothing.
    ///
    /// - Parameters:
    ///   - body: the source, and the name of the camera, which the URI may contain.
    ///   - visible: the cameras that the client may see. A client limited to some cameras must use the name of one of
    ///     them.
    func tryOut(_ body: JSONValue, isTrial: Bool, visible: CameraFilter) async -> HTTPAnswer {
        guard let written = body["source"]?.text, !written.isEmpty,
            body.members?.allSatisfy({ $0.key.isSameBytes(as: "source") || $0.key.isSameBytes(as: "name") }) == true
        else {
            return .problem(
                .unprocessableEntity, "The body must be {\"source\": URI}, optionally with the camera's name as name.")
        }
        let name = body["name"]?.text
        guard body["name"] == nil || name.map(CameraName.isValid) == true else {
            return .problem(
                .unprocessableEntity, "The name of a camera must be \(CameraName.rule.description).")
        }
        guard name.map(visible.allows) ?? !visible.isLimited else {
            return .problem(
                .forbidden, "The token is for other cameras. Add the key name, with the name of an allowed camera.")
        }
        let source: any FrameSourceConfiguration
        do throws(ConfigurationProblems) {
            source = try await keeper.source(written, camera: name ?? "camera")
        } catch {
            return .problem(.unprocessableEntity, "The address is invalid.", error.list)
        }
        if isTrial { return .changes([], isTrial: true) }
        guard tryOuts.begin() else {
            return Self.busy("Too many addresses are being tried. Try again in a few seconds.")
        }
        defer { tryOuts.end() }
        do throws(InletError) {
            return .json(try await TryOut(registry: keeper.registry, logger: logger).picture(of: source).json)
        } catch {
            // The camera is at fault and not the daemon, so the status is below 500.
            return .problem(.conflict, error.description)
        }
    }

    private static func busy(_ detail: String) -> HTTPAnswer {
        var answer = HTTPAnswer.problem(.tooManyRequests, detail)
        answer.headers.add(name: "retry-after", value: "5")
        return answer
    }
}
