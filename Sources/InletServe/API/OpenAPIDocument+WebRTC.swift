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
                    "post", "Begins a session of WHEP: an offer that only receives video",
                    [
                        (
                            "201",
                            content(
                                "The answer with all candidates; the session is at Location", description,
                                .object([("type", .text("string"))]))
                        ), absent,
                        failure("409", "The camera is paused, or gives no picture now"),
                        failure("415", "The body is not said to be SDP"),
                        failure("422", "The offer takes no codec that the camera can be sent in"),
                        failure("429", "Too many requests, or as many viewers at one address as there may be"),
                        failure("501", "What WebRTC needs is not installed here"),
                        failure("502", "The configured relay gives no path"),
                        failure("503", "As many viewers as there may be"),
                        failure("504", "The answer took too long"),
                    ], bodyType: description),
                operation(
                    "options", "The servers of STUN and TURN, as links with the relation ice-server",
                    [("204", .object([("description", .text("The links are in the head"))])), absent]),
            ])
        ),
        (
            "/v1/cameras/{name}/whep/{session}",
            .object([
                ("parameters", .list([name, session])),
                operation(
                    "patch", "Adds candidates to a session",
                    [
                        ("204", .object([("description", .text("They are added"))])), over,
                        failure("412", "The ETag is not that of the session"),
                        failure("415", "The body is not said to be a fragment of SDP"),
                        failure("422", "A session is not restarted"),
                        failure("428", "The header If-Match is missing"),
                    ], bodyType: fragment, parameters: [match]),
                operation(
                    "delete", "Ends a session",
                    [("200", .object([("description", .text("It ends"))])), over]),
                operation(
                    "options", "What a session takes",
                    [("204", .object([("description", .text("It is in the head"))])), over]),
            ])
        ),
    ]

    private static let absent = failure(
        "404", "There is no such camera, the token is for others, or the build has no WebRTC")
    private static let over = failure(
        "404", "There is no such session, or no such camera, the token is for others, or the build has no WebRTC")

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
