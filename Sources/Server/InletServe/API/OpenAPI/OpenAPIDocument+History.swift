import InletCore

/// The path of a camera's history.
extension OpenAPIDocument {
    static let historyPaths: [(String, JSONValue)] = [
        (
            "/v1/cameras/{name}/history",
            .object([
                ("parameters", .list([name])),
                operation(
                    "get", "The last hour of a camera, in samples of ten seconds, the oldest first",
                    [("200", json("The samples, including the unfinished one", reference("History"))), missing]),
            ])
        )
    ]

    static let historySchemas: [(String, JSONValue)] = [
        (
            "History",
            object(
                [
                    ("interval", type("number")),
                    (
                        "samples",
                        array(
                            object(
                                [
                                    ("time", type("string")), ("seconds", type("number")),
                                    ("frameRate", type("number")), ("dropped", type("integer")),
                                    ("state", type("string")),
                                ], required: ["time", "seconds", "frameRate", "dropped", "state"]))
                    ),
                ], required: ["interval", "samples"])
        )
    ]
}
