import InletCore

/// The JSON Schema of configurations.
package enum ConfigurationSchema {
    /// The schema as a JSON text for people and editors.
    package static let text = JSONValue.object(
        [
            ("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
            ("title", .text("The configuration of inlet serve")),
        ] + (ConfigurationShape.configuration.schema.members ?? []).map { ($0.key, $0.value) }
    ).text(isIndented: true)
}
