import InletCore
import Logging

extension OpenAPIDocument {
    /// A camera as in the configuration's file, with its name.
    static let newCamera: JSONValue = {
        guard case .scalarOrObject(_, let keys) = ConfigurationShape.camera else { return .object([]) }
        let name = ConfigurationKey("name", "The name", isRequired: true, .scalar(CameraName.rule))
        return ConfigurationShape.object([name] + keys).schema
    }()

    /// The status of a camera.
    static let status = object(
        [
            ("name", type("string")), ("source", type("string")),
            ("sinks", array(object([("uri", type("string"))], required: ["uri"]))), ("state", type("string")),
            ("description", type("string")), ("healthy", type("boolean")), ("paused", type("boolean")),
            ("onDemand", type("boolean")), ("stalledSinks", array(type("string"))), ("failure", orNull("string")),
            ("obstacle", orNull("string", "The reason why the camera has no pictures now, with the last error")),
            ("captured", type("integer")), ("dropped", type("integer")),
            ("openings", type("integer")), ("stalls", type("integer")), ("frameRate", orNull("number")),
            ("lastFrameAge", orNull("number")), ("delay", orNull("number")),
            ("packetLoss", orNull("number")), ("packetLossRemedy", orNull("string")), ("viewers", type("integer")),
            (
                "process",
                .object([
                    (
                        "anyOf",
                        .list([
                            type("null"),
                            object(
                                [
                                    ("id", orNull("integer")),
                                    (
                                        "restarts",
                                        type(
                                            "integer",
                                            "The number of processes after the first, including those started on "
                                                + "demand and by the API")
                                    ),
                                    ("memoryLimit", orNull("integer")),
                                ], required: ["id", "restarts", "memoryLimit"]),
                        ])
                    )
                ])
            ),
            ("priority", .object([("enum", .list(CameraPriority.allCases.map { .text($0.rawValue) }))])),
            (
                "degraded",
                .object([
                    (
                        "anyOf",
                        .list([
                            type("null"),
                            object(
                                [
                                    ("by", type("string", "The remaining quality, such as half the frame rate")),
                                    ("why", type("string", "The reason why the budget of cores reduces it")),
                                ], required: ["by", "why"]),
                        ])
                    )
                ])
            ),
        ], required: ["name", "source", "sinks", "state", "healthy", "paused"])

    /// The changes that a request made, or would make.
    static let changes = object(
        [
            ("dryRun", type("boolean")),
            (
                "changes",
                array(
                    object(
                        [
                            ("camera", type("string")),
                            (
                                "change",
                                .object([
                                    (
                                        "enum",
                                        .list(
                                            [
                                                "added", "removed", "reopened", "adjusted", "paused", "resumed",
                                                "restarted", "recorded", "recording-ended", "recording-deleted",
                                            ].map(JSONValue.text))
                                    )
                                ])
                            ),
                        ], required: ["camera", "change"]))
            ),
        ], required: ["dryRun", "changes"])

    /// An error in the format of RFC 9457.
    static let problem = object(
        [
            ("title", type("string")), ("status", type("integer")), ("detail", type("string")),
            (
                "problems",
                array(
                    object(
                        [
                            ("line", type("integer")), ("column", type("integer")), ("path", type("string")),
                            ("message", type("string")),
                        ], required: ["message"]))
            ),
        ], required: ["title", "status", "detail"])

    /// A log level.
    static let level = object([("level", levels)], required: ["level"])

    /// A log level that was set, or would be set.
    static let newLevel = object([("dryRun", type("boolean")), ("level", levels)], required: ["dryRun", "level"])

    private static let levels = JSONValue.object([
        ("enum", .list(Logger.Level.allCases.map { .text($0.rawValue) }))
    ])

    static func type(_ name: String, _ description: String? = nil) -> JSONValue {
        .object([("type", .text(name))] + (description.map { [("description", .text($0))] } ?? []))
    }

    static func orNull(_ name: String, _ description: String? = nil) -> JSONValue {
        .object(
            [("type", .list([.text(name), .text("null")]))] + (description.map { [("description", .text($0))] } ?? []))
    }

    static func array(_ items: JSONValue) -> JSONValue {
        .object([("type", .text("array")), ("items", items)])
    }

    static func object(_ properties: [(String, JSONValue)], required: [String]) -> JSONValue {
        .object([
            ("type", .text("object")), ("additionalProperties", .boolean(false)), ("properties", .object(properties)),
            ("required", .list(required.map(JSONValue.text))),
        ])
    }
}
