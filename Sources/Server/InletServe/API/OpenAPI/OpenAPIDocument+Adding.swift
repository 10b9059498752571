import InletCore

/// The paths that help to add a camera.
extension OpenAPIDocument {
    static let addingPaths: [(String, JSONValue)] = [
        (
            "/v1/discover",
            .object([
                operation(
                    "post", "Searches the networks of the machine for ONVIF cameras, for three seconds",
                    [
                        (
                            "200",
                            json(
                                "The answers of cameras, which are not verified; for a dry run, the changes",
                                .object([("oneOf", .list([reference("Found"), reference("Changes")]))]))
                        ),
                        failure("409", "Searching is not possible"),
                        failure("429", "Another search is running, or too many requests"),
                    ], parameters: [trial])
            ])
        ),
        (
            "/v1/try",
            .object([
                operation(
                    "post", "Opens a source for one picture, within 12 seconds; stores nothing",
                    [
                        (
                            "200",
                            json(
                                "The picture, as JPEG in base64, and the format; for a dry run, the changes",
                                .object([("oneOf", .list([reference("Tried"), reference("Changes")]))]))
                        ),
                        failure("409", "The source has no picture; detail states the reason and a remedy"),
                        failure("429", "Two sources are already being tried, or too many requests"),
                    ] + bodyFailures, body: "TryOut", parameters: [trial])
            ])
        ),
    ]

    static let addingSchemas: [(String, JSONValue)] = [
        (
            "Found",
            object(
                [
                    (
                        "cameras",
                        array(
                            object(
                                [
                                    ("name", type("string")), ("hardware", type("string")),
                                    ("location", type("string")), ("addresses", array(type("string"))),
                                    ("source", orNull("string")), ("sources", array(type("string"))),
                                ], required: ["name", "hardware", "location", "addresses", "source", "sources"]))
                    ), ("troubles", array(type("string"))),
                ], required: ["cameras", "troubles"])
        ),
        (
            "TryOut",
            ConfigurationShape.object([
                ConfigurationKey(
                    "source", "The URI of the source", isRequired: true, .scalar(.uri("the URI of a source"))),
                ConfigurationKey("name", "The name for the camera", .scalar(CameraName.rule)),
            ]).schema
        ),
        (
            "Tried",
            object(
                [
                    ("width", type("integer")), ("height", type("integer")), ("frameRate", orNull("number")),
                    ("codec", orNull("string")), ("container", orNull("string")),
                    ("picture", .object([("type", .text("string")), ("contentEncoding", .text("base64"))])),
                ], required: ["width", "height", "frameRate", "codec", "container", "picture"])
        ),
    ]
}
