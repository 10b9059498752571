import InletCore

/// The paths of recordings and packet streams.
extension OpenAPIDocument {
    static let recordingPaths: [(String, JSONValue)] = [
        (
            "/v1/cameras/{name}/stream.mp4",
            .object([
                ("parameters", .list([name])),
                operation(
                    "get", "An endless stream of the camera's own packets as fragmented MP4",
                    [
                        ("200", content("MP4 from the last key frame on", "video/mp4", .object([]))), missing,
                        failure("409", "The camera is paused, or has no packets now"),
                        failure("422", "The source has no packets, or MP4 does not support their codec"), tooMany,
                        failure("503", "The system cannot create a thread now"),
                    ]),
            ])
        ),
        (
            "/v1/cameras/{name}/stream.m3u8",
            .object([
                ("parameters", .list([name])),
                operation(
                    "get", "The camera's own packets by HTTP Live Streaming",
                    [
                        (
                            "200",
                            content(
                                "The playlist of the last segments", "application/vnd.apple.mpegurl", .object([]))
                        ), missing,
                        failure("409", "The camera is paused, or has no packets now"),
                        failure("422", "The source has no packets, or MP4 does not support their codec"), tooMany,
                        failure("503", "The system cannot create a thread now"),
                    ]),
            ])
        ),
        (
            "/v1/cameras/{name}/hls/{segment}",
            .object([
                ("parameters", .list([name, segment])),
                operation(
                    "get", "A file listed in the playlist",
                    [
                        ("200", content("A segment or an initialization section", "video/mp4", .object([]))),
                        failure("404", "There is no such camera, the token does not allow it, or the file is gone"),
                    ]),
            ])
        ),
        (
            "/v1/cameras/{name}/record",
            .object([
                ("parameters", .list([name])),
                operation(
                    "post", "Starts a recording, which begins before the request, or extends the current one",
                    [
                        ("202", json("The end of the recording", reference("RecordingBegun"))),
                        ("200", json("The changes that would be made", reference("Changes"))), missing,
                        failure("409", "No folder is configured, or the camera is not running"),
                        failure("507", "The recording cannot be stored"),
                    ] + bodyFailures, body: "Record", parameters: [trial]),
                operation(
                    "delete", "Ends the recording",
                    [
                        (
                            "200",
                            json(
                                "The complete files; for a dry run, the changes",
                                .object([
                                    ("oneOf", .list([reference("RecordingEnded"), reference("Changes")]))
                                ]))
                        ), missing,
                        failure("409", "The camera is not being recorded on request"),
                    ], parameters: [trial]),
            ])
        ),
        (
            "/v1/cameras/{name}/recordings",
            .object([
                ("parameters", .list([name])),
                operation(
                    "get", "A page of the list of recordings, with their gaps",
                    [
                        ("200", json("The recordings; times in seconds", reference("Recordings"))),
                        failure("400", "The query is invalid"), missing, failure("409", "No folder is configured"),
                    ], parameters: listQuery),
            ])
        ),
        (
            "/v1/cameras/{name}/recordings/{file}",
            .object([
                ("parameters", .list([name, file])),
                operation(
                    "get", "A recording, or a range of its bytes (RFC 9110, 14.2)",
                    [
                        ("200", content("MP4", "video/mp4", .object([]))),
                        ("206", content("The requested range", "video/mp4", .object([]))),
                        failure("416", "The range begins after the end of the recording"), missing,
                        failure("409", "No folder is configured"),
                        failure("507", "The recording cannot be read"), tooMany,
                    ]),
                operation(
                    "delete", "Deletes a recording, which needs a token with the scope admin",
                    [
                        ("204", .object([("description", .text("Done"))])),
                        ("200", json("The changes that would be made", reference("Changes"))), missing,
                        failure("409", "The recording is being written, or no folder is configured"),
                        failure("507", "The recording cannot be deleted"),
                    ], parameters: [trial]),
            ])
        ),
    ]

    private static let file = JSONValue.object([
        ("name", .text("file")), ("in", .text("path")), ("required", .boolean(true)),
        (
            "schema",
            .object([
                ("type", .text("string")),
                ("pattern", .text("^[0-9]{8}T[0-9]{6}\\.[0-9]{3}Z(-[0-9]{1,3})?\\.mp4$")),
            ])
        ),
    ])

    private static let listQuery: [JSONValue] = [
        .object([
            ("name", .text("limit")), ("in", .text("query")),
            ("description", .text("The maximum number of recordings in the page.")),
            (
                "schema",
                .object([
                    ("type", .text("integer")), ("minimum", .number(1)),
                    ("maximum", .number(RecordingListQuery.highestLimit)),
                    ("default", .number(RecordingListQuery.defaultLimit)),
                ])
            ),
        ]),
        .object([
            ("name", .text("cursor")), ("in", .text("query")),
            ("description", .text("The value of next in the previous page.")),
            ("schema", .object([("type", .text("string"))])),
        ]),
        .object([
            ("name", .text("order")), ("in", .text("query")),
            ("description", .text("The recording that comes first.")),
            (
                "schema",
                .object([
                    ("enum", .list(["oldest", "newest"].map(JSONValue.text))), ("default", .text("oldest")),
                ])
            ),
        ]),
    ]

    private static let segment = JSONValue.object([
        ("name", .text("segment")), ("in", .text("path")), ("required", .boolean(true)),
        ("schema", .object([("type", .text("string")), ("pattern", .text("^[0-9]{1,18}\\.(m4s|mp4)$"))])),
    ])

    // MARK: Schemas

    static let recordingSchemas: [(String, JSONValue)] = [
        (
            "Record",
            object(
                [
                    (
                        "seconds",
                        .object([
                            ("type", .text("number")), ("exclusiveMinimum", .number(0)), ("maximum", .number(86_400)),
                        ])
                    )
                ], required: [])
        ),
        ("RecordingBegun", object([("name", orNull("string")), ("until", type("string"))], required: ["until"])),
        ("RecordingEnded", object([("recordings", array(type("string")))], required: ["recordings"])),
        (
            "Recordings",
            object(
                [
                    (
                        "recordings",
                        array(
                            object(
                                [
                                    ("name", type("string")), ("bytes", type("integer")),
                                    (
                                        "state",
                                        .object([
                                            (
                                                "enum",
                                                .list(
                                                    ["recording", "complete", "interrupted"].map(JSONValue.text))
                                            )
                                        ])
                                    ),
                                    ("start", orNull("string")), ("length", orNull("number")),
                                    (
                                        "gaps",
                                        array(
                                            object(
                                                [
                                                    ("start", type("string")), ("offset", type("number")),
                                                    ("length", type("number")),
                                                ], required: ["start", "offset", "length"]))
                                    ),
                                    ("moreGaps", type("integer")), ("cause", orNull("string")),
                                    ("asked", orNull("string")), ("failure", orNull("string")),
                                ], required: ["name", "bytes", "state", "start", "length", "gaps"]))
                    ),
                    ("next", orNull("string")),
                ], required: ["recordings", "next"])
        ),
    ]
}
