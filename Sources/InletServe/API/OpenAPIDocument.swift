import InletCore
import InletHTTP
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
                        "Cameras that one daemon runs. A token has a scope: view, control or admin. One may be for "
                            + "some cameras alone: others are then not listed, nor in events and metrics, and "
                            + "answered with 404.")
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
            .object([operation("get", "Whether the daemon answers", [("200", plain("It does"))])])
        ),
        (
            "/readyz",
            .object([
                operation(
                    "get", "Whether the daemon serves, and how many cameras are well",
                    [
                        ("200", plain("It does, whether cameras are well or not")),
                        ("503", plain("It has not started its cameras yet, or it ends")),
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
                        ("201", json("It was added", reference("Changes"))),
                        ("200", json("What would be done", reference("Changes"))),
                    ]
                        + bodyFailures + [
                            failure("409", "There is one of that name"), failure("507", "It cannot be kept"),
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
                        ("200", json("What was done", reference("Changes"))),
                        ("201", json("It was added", reference("Changes"))), missing,
                    ]
                        + bodyFailures + [failure("507", "It cannot be kept")], body: "Camera", parameters: [trial]),
                operation(
                    "delete", "Removes a camera",
                    [
                        ("200", json("What was done", reference("Changes"))), missing,
                        failure("422", "What is left is not right"), failure("507", "It cannot be kept"),
                    ],
                    parameters: [trial]),
            ])
        ),
        (
            "/v1/cameras/{name}/changes",
            .object([
                ("parameters", .list([name])),
                operation(
                    "delete", "Forgets what the API changed of a camera: it is again as the file says, or gone",
                    [
                        ("200", json("What was done", reference("Changes"))),
                        failure("404", "The API has changed nothing of such a camera, or the token is for others"),
                        failure("422", "What is left is not right"), failure("507", "It cannot be kept"),
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
                        failure("409", "The camera is paused, or gives no picture now"),
                    ]),
            ])
        ),
        (
            "/v1/cameras/{name}/stream.mjpeg",
            .object([
                ("parameters", .list([name])),
                operation(
                    "get", "Pictures without an end",
                    [("200", content("JPEGs", "multipart/x-mixed-replace", .object([]))), missing, tooMany]),
            ])
        ),
        (
            "/v1/cameras/{name}/statistics",
            .object([
                ("parameters", .list([name])),
                operation(
                    "get", "All figures of a camera",
                    [("200", json("Figures; times in seconds", .object([("type", .text("object"))]))), missing]),
            ])
        ),
        control("restart", "Closes a camera and opens it again"), control("pause", "Stops the frames of a camera"),
        control("resume", "Ends a pause"),
        (
            "/v1/events",
            .object([
                operation(
                    "get",
                    "The last 50 events, or those after the one that Last-Event-ID names, and what happens from now "
                        + "on, without an end",
                    [("200", content("Server-sent events", "text/event-stream", .object([]))), tooMany])
            ])
        ),
        (
            "/v1/reload",
            .object([
                operation(
                    "post", "Reads the configuration and the changes by the API again",
                    [
                        ("200", json("What was done", reference("Changes"))),
                        failure("422", "The file, or that of the changes, has errors; nothing was done"),
                    ], parameters: [trial])
            ])
        ),
        (
            "/v1/log-level",
            .object([
                operation(
                    "get", "From which level on messages are logged", [("200", json("The level", reference("Level")))]),
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
                        ("204", .object([("description", .text("It is done"))])),
                        ("200", json("What would be done", reference("Changes"))), missing,
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
            failure("400", "It is not a request"), failure("401", "A token is required"),
            failure("403", "The token does not allow it"), failure("413", "The body is too long, or none is taken"),
            failure("421", "The request is for another host"),
            failure("429", "Too many wrong tokens, or too many requests"),
            failure("431", "The head is too long"),
        ]
        let codes = Set(answers.map(\.0))
        members.append(("responses", .object(answers + refusals.filter { !codes.contains($0.0) })))
        return (method, .object(members))
    }

    static let missing = failure("404", "There is no such camera, or the token is for others")
    static let tooMany = failure("429", "Too many requests, or as many streams as there may be")
    static let bodyFailures = [
        failure("415", "The body is not said to be JSON"), failure("422", "What the body says is not right"),
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
        ("description", .text("Says what would be done, and does nothing.")),
        ("schema", .object([("type", .text("boolean"))])),
    ])
}
