import InletCore
import InletHTTPServer
import NIOCore

/// The description of the API in OpenAPI 3.1. Cameras in requests are described by the shape that also checks them.
enum OpenAPIDocument {
    static let body = ByteBuffer(string: text + "\n")

    /// Returns the description for clients of a reverse proxy.
    ///
    /// - Parameter prefix: the path under which the proxy serves the API.
    static func body(below prefix: String) -> ByteBuffer {
        guard !prefix.isEmpty else { return body }
        let servers = ("servers", JSONValue.list([.object([("url", .text(prefix))])]))
        return ByteBuffer(string: JSONValue.object(members + [servers]).text(isIndented: true) + "\n")
    }

    static let text = JSONValue.object(members).text(isIndented: true)

    private static let members: [(String, JSONValue)] = [
        ("openapi", .text("3.1.0")),
        (
            "info",
            .object([
                ("title", .text("inlet serve")), ("version", .text(InletVersion.current)),
                (
                    "description",
                    .text(
                        "Cameras that one daemon runs. A token has a scope: view, control or admin. It may be limited "
                            + "to some cameras: the others are then missing from lists, events and metrics, and "
                            + "requests for them are answered with 404.")
                ),
            ])
        ),
        ("security", .list([.object([]), .object([("token", .list([]))])])),
        ("paths", .object(paths + recordingPaths + addingPaths + historyPaths + webRTCPaths)),
        (
            "components",
            .object([
                (
                    "securitySchemes",
                    .object([("token", .object([("type", .text("http")), ("scheme", .text("bearer"))]))])
                ),
                (
                    "schemas",
                    .object(
                        [
                            ("Camera", ConfigurationShape.camera.schema), ("NewCamera", newCamera),
                            ("Status", status), ("Changes", changes), ("Problem", problem), ("Level", level),
                            ("NewLevel", newLevel),
                        ] + recordingSchemas + addingSchemas + historySchemas)
                ),
            ])
        ),
    ]

    // MARK: Paths

    private static let paths: [(String, JSONValue)] = [
        (
            "/healthz",
            .object([operation("get", "Whether the daemon answers", [("200", plain("The daemon answers"))])])
        ),
        (
            "/readyz",
            .object([
                operation(
                    "get", "Whether the daemon is ready, and the number of healthy cameras",
                    [
                        ("200", plain("The daemon is ready, whether or not its cameras are healthy")),
                        ("503", plain("The cameras have not started yet, or the daemon is shutting down")),
                    ])
            ])
        ),
        (
            "/metrics",
            .object([operation("get", "Statistics of all cameras for Prometheus", [("200", plain("Metrics"))])])
        ),
        (
            "/v1/cameras",
            .object([
                operation(
                    "get", "All cameras",
                    [
                        (
                            "200",
                            json(
                                "The cameras",
                                .object([
                                    ("type", .text("object")), ("required", .list([.text("cameras")])),
                                    (
                                        "properties",
                                        .object([
                                            (
                                                "cameras",
                                                .object([("type", .text("array")), ("items", reference("Status"))])
                                            )
                                        ])
                                    ),
                                ]))
                        )
                    ]),
                operation(
                    "post", "Adds a camera",
                    [
                        ("201", json("The camera was added", reference("Changes"))),
                        ("200", json("The changes that would be made", reference("Changes"))),
                    ]
                        + bodyFailures + [
                            failure("409", "A camera of that name already exists"),
                            failure("507", "The change cannot be stored"),
                        ],
                    body: "NewCamera", parameters: [trial]),
            ])
        ),
        (
            "/v1/cameras/{name}",
            .object([
                ("parameters", .list([name])),
                operation("get", "A camera", [("200", json("The camera", reference("Status"))), missing]),
                operation(
                    "put", "Sets a camera, new or not",
                    [
                        ("200", json("The changes that were made", reference("Changes"))),
                        ("201", json("The camera was added", reference("Changes"))), missing,
                    ]
                        + bodyFailures + [failure("507", "The change cannot be stored")], body: "Camera",
                    parameters: [trial]),
                operation(
                    "delete", "Removes a camera",
                    [
                        ("200", json("The changes that were made", reference("Changes"))), missing,
                        failure("422", "The remaining configuration is invalid"),
                        failure("507", "The change cannot be stored"),
                    ],
                    parameters: [trial]),
            ])
        ),
        (
            "/v1/cameras/{name}/changes",
            .object([
                ("parameters", .list([name])),
                operation(
                    "delete",
                    "Discards the API's changes of a camera: the file's settings apply again, or the camera is removed",
                    [
                        ("200", json("The changes that were made", reference("Changes"))),
                        failure("404", "The API has no changes of such a camera, or the token does not allow it"),
                        failure("422", "The remaining configuration is invalid"),
                        failure("507", "The change cannot be stored"),
                    ],
                    parameters: [trial]),
            ])
        ),
        (
            "/v1/cameras/{name}/snapshot.jpg",
            .object([
                ("parameters", .list([name])),
                operation(
                    "get", "The next picture",
                    [
                        ("200", content("A JPEG", "image/jpeg", .object([]))), missing,
                        failure("409", "The camera is paused, or has no picture now"),
                    ]),
            ])
        ),
        (
            "/v1/cameras/{name}/stream.mjpeg",
            .object([
                ("parameters", .list([name])),
                operation(
                    "get", "An endless stream of pictures",
                    [("200", content("JPEGs", "multipart/x-mixed-replace", .object([]))), missing, tooMany]),
            ])
        ),
        (
            "/v1/cameras/{name}/statistics",
            .object([
                ("parameters", .list([name])),
                operation(
                    "get", "All statistics of a camera",
                    [("200", json("The statistics; times in seconds", .object([("type", .text("object"))]))), missing]),
            ])
        ),
        control("restart", "Closes a camera and opens it again"), control("pause", "Stops the frames of a camera"),
        control("resume", "Ends a pause"),
        (
            "/v1/events",
            .object([
                operation(
                    "get",
                    "The last 50 events, or those after the one that Last-Event-ID names, followed by an endless "
                        + "stream of new events",
                    [("200", content("Server-sent events", "text/event-stream", .object([]))), tooMany])
            ])
        ),
        (
            "/v1/reload",
            .object([
                operation(
                    "post", "Reads the configuration and the changes by the API again",
                    [
                        ("200", json("The changes that were made", reference("Changes"))),
                        failure("422", "The configuration or the file of changes has errors; nothing was changed"),
                    ], parameters: [trial])
            ])
        ),
        (
            "/v1/log-level",
            .object([
                operation(
                    "get", "The lowest level of logged messages", [("200", json("The level", reference("Level")))]),
                operation(
                    "put", "Sets that level", [("200", json("The level", reference("NewLevel")))] + bodyFailures,
                    body: "Level", parameters: [trial]),
            ])
        ),
    ]

    private static func control(_ verb: String, _ summary: String) -> (String, JSONValue) {
        (
            "/v1/cameras/{name}/\(verb)",
            .object([
                ("parameters", .list([name])),
                operation(
                    "post", summary,
                    [
                        ("204", .object([("description", .text("Done"))])),
                        ("200", json("The changes that would be made", reference("Changes"))), missing,
                    ], parameters: [trial]),
            ])
        )
    }

    static func operation(
        _ method: String, _ summary: String, _ answers: [(String, JSONValue)], body: String? = nil,
        bodyType: String? = nil, parameters: [JSONValue] = []
    ) -> (String, JSONValue) {
        var members: [(String, JSONValue)] = [("summary", .text(summary))]
        if !parameters.isEmpty { members.append(("parameters", .list(parameters))) }
        if let body {
            members.append(
                (
                    "requestBody",
                    .object([
                        ("required", .boolean(true)),
                        ("content", .object([("application/json", .object([("schema", reference(body))]))])),
                    ])
                ))
        }
        if let bodyType {
            members.append(
                (
                    "requestBody",
                    .object([
                        ("required", .boolean(true)),
                        (
                            "content",
                            .object([(bodyType, .object([("schema", .object([("type", .text("string"))]))]))])
                        ),
                    ])
                ))
        }
        let refusals = [
            failure("400", "The request is malformed"), failure("401", "A token is required"),
            failure("403", "The token does not allow it"), failure("413", "The body is too long, or not allowed"),
            failure("421", "The request is for another host"),
            failure("429", "Too many wrong tokens, or too many requests"),
            failure("431", "The header section is too long"),
        ]
        let codes = Set(answers.map(\.0))
        members.append(("responses", .object(answers + refusals.filter { !codes.contains($0.0) })))
        return (method, .object(members))
    }

    static let missing = failure("404", "There is no such camera, or the token does not allow it")
    static let tooMany = failure("429", "Too many requests, or too many streams")
    static let bodyFailures = [
        failure("415", "The content type is not JSON"), failure("422", "The content of the body is invalid"),
    ]

    static func failure(_ status: String, _ description: String) -> (String, JSONValue) {
        (
            status,
            .object([
                ("description", .text(description)),
                (
                    "content",
                    .object([
                        ("application/problem+json", .object([("schema", reference("Problem"))])),
                        ("text/plain", .object([("schema", .object([("type", .text("string"))]))])),
                    ])
                ),
            ])
        )
    }

    static func content(_ description: String, _ type: String, _ schema: JSONValue) -> JSONValue {
        .object([
            ("description", .text(description)), ("content", .object([(type, .object([("schema", schema)]))])),
        ])
    }

    static func json(_ description: String, _ schema: JSONValue) -> JSONValue {
        content(description, "application/json", schema)
    }

    private static func plain(_ description: String) -> JSONValue {
        content(description, "text/plain", .object([("type", .text("string"))]))
    }

    static func reference(_ name: String) -> JSONValue {
        .object([("$ref", .text("#/components/schemas/\(name)"))])
    }

    static let name = JSONValue.object([
        ("name", .text("name")), ("in", .text("path")), ("required", .boolean(true)),
        ("schema", .object([("type", .text("string")), ("pattern", .text("^[a-z0-9][a-z0-9_-]{0,62}$"))])),
    ])

    static let trial = JSONValue.object([
        ("name", .text("dry-run")), ("in", .text("query")),
        ("description", .text("Whether to change nothing, and only report the changes that would be made.")),
        ("schema", .object([("type", .text("boolean"))])),
    ])
}
