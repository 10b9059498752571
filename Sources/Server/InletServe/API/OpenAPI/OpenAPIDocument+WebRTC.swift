import InletCore

/// The paths of WHEP, for viewers by WebRTC.
extension OpenAPIDocument {
    private static let description = "application/sdp"
    private static let fragment = "application/trickle-ice-sdpfrag"

    static let webRTCPaths: [(String, JSONValue)] = [
        (
            "/v1/cameras/{name}/whep",
            .object([
                ("parameters", .list([name])),
                operation(
                    "post", "Starts a WHEP session by an offer that only receives video",
                    [
                        (
                            "201",
                            content(
                                "The answer with all candidates; the session is at Location", description,
                                .object([("type", .text("string"))]))
                        ), absent,
                        failure("409", "The camera is paused, or has no picture now"),
                        failure("415", "The content type is not SDP"),
                        failure("422", "The offer accepts no codec in which the camera can be sent"),
                        failure("429", "Too many requests, or too many viewers at one address"),
                        failure("501", "A component that WebRTC needs is not installed"),
                        failure("502", "The configured relay provides no path"),
                        failure("503", "Too many viewers"),
                        failure("504", "The answer took too long"),
                    ], bodyType: description),
                operation(
                    "options", "The STUN and TURN servers, as links with the relation ice-server",
                    [("204", .object([("description", .text("The links are in the header"))])), absent]),
            ])
        ),
        (
            "/v1/cameras/{name}/whep/{session}",
            .object([
                ("parameters", .list([name, session])),
                operation(
                    "patch", "Adds candidates to a session",
                    [
                        ("204", .object([("description", .text("The candidates are added"))])), over,
                        failure("412", "The ETag is not that of the session"),
                        failure("415", "The content type is not that of an SDP fragment"),
                        failure("422", "Restarting a session is not supported"),
                        failure("428", "The header If-Match is missing"),
                    ], bodyType: fragment, parameters: [match]),
                operation(
                    "delete", "Ends a session",
                    [("200", .object([("description", .text("The session ends"))])), over]),
                operation(
                    "options", "The requests that a session supports",
                    [("204", .object([("description", .text("They are in the header"))])), over]),
            ])
        ),
    ]

    private static let absent = failure(
        "404", "There is no such camera, the token does not allow it, or the build has no WebRTC")
    private static let over = failure(
        "404", "There is no such session or camera, the token does not allow it, or the build has no WebRTC")

    private static let session = JSONValue.object([
        ("name", .text("session")), ("in", .text("path")), ("required", .boolean(true)),
        ("schema", .object([("type", .text("string")), ("pattern", .text("^[a-z0-9]{1,64}$"))])),
    ])

    private static let match = JSONValue.object([
        ("name", .text("if-match")), ("in", .text("header")), ("required", .boolean(true)),
        ("description", .text("The ETag of the answer.")),
        ("schema", .object([("type", .text("string")), ("pattern", .text("^\"[a-z0-9]{1,64}\"$"))])),
    ])
}
