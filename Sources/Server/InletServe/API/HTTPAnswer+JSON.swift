import InletCore
import InletHTTPServer
import NIOCore
import NIOHTTP1

extension HTTPAnswer {
    /// Returns a JSON response.
    static func json(_ value: JSONValue, _ status: HTTPResponseStatus = .ok) -> HTTPAnswer {
        HTTPAnswer(
            status, headers: ["content-type": "application/json"], body: ByteBuffer(string: value.text() + "\n"))
    }

    /// Returns a response that describes an error (RFC 9457).
    ///
    /// - Parameter problems: the problems in the request's body.
    static func problem(
        _ status: HTTPResponseStatus, _ detail: String, _ problems: [ConfigurationProblem] = []
    ) -> HTTPAnswer {
        var members: [(String, JSONValue)] = [
            ("title", .text(status.reasonPhrase)), ("status", .number(Int(status.code))), ("detail", .text(detail)),
        ]
        if !problems.isEmpty {
            members.append(
                (
                    "problems",
                    .list(
                        problems.map {
                            .object([
                                ("line", .number($0.place.line)), ("column", .number($0.place.column)),
                                ("path", .text($0.path)), ("message", .text($0.message)),
                            ])
                        })
                ))
        }
        return HTTPAnswer(
            status, headers: ["content-type": "application/problem+json"],
            body: ByteBuffer(string: JSONValue.object(members).text() + "\n"))
    }

    /// Returns the response to a change.
    ///
    /// - Parameter isTrial: whether this was a dry run: the changes are only listed and not made.
    static func changes(
        _ changes: [(name: String, change: String)], _ status: HTTPResponseStatus = .ok, isTrial: Bool
    ) -> HTTPAnswer {
        .json(
            .object([
                ("dryRun", .boolean(isTrial)),
                (
                    "changes",
                    .list(changes.map { .object([("camera", .text($0.name)), ("change", .text($0.change))]) })
                ),
            ]), status)
    }

    /// Returns the response for a camera that does not exist.
    static func noCamera(_ name: String) -> HTTPAnswer {
        .problem(.notFound, "There is no camera '\(name.sanitized(limit: 80))'.")
    }
}
