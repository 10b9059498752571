import Foundation
import ReferenceTools
import Testing

@testable import InletPluginLoader

/// The JSON Schema for editors agrees with the manifest reader.
@Suite struct ManifestSchemaTests {
    private struct Schema: Decodable {
        struct Definition: Decodable {
            var properties: [String: Property]?
        }
        struct Property: Decodable {
            var `enum`: [String]?
            var maxLength: Int?
            var maxItems: Int?
        }
        enum CodingKeys: String, CodingKey {
            case properties, required
            case definitions = "$defs"
        }
        var properties: [String: Property]
        var required: [String]
        var definitions: [String: Definition]
    }

    private let schema: Schema

    init() throws {
        let file = BuiltProgram.package.appending(path: "Docs/reference/inlet-plugin.schema.json")
        schema = try JSONDecoder().decode(Schema.self, from: try Data(contentsOf: file))
    }

    /// Returns the keys that the reader knows. An error about an entirely unknown key lists them.
    private func known(_ text: String) throws -> Set<String> {
        let problem = try #require(ManifestText.problems(text).first { $0.contains("known are") })
        return Set(problem.matches(of: /"([^"]+)"/).map { String($0.output.1) })
    }

    @Test("The keys of the manifest, of sources and of options are those that the reader knows")
    func keys() throws {
        let far = "\"zzzzzzzzzzzzzzzzzzzzzzzz\": 1"
        let whole = try known(ManifestText.least.replacing("{\"inlet-plugin\"", with: "{\(far), \"inlet-plugin\""))
        #expect(whole == Set(schema.properties.keys))
        let strange = ManifestText.least.replacing("{\"schemes\"", with: "{\(far), \"schemes\"")
        let endpoint = Set(try #require(schema.definitions["endpoint"]?.properties).keys)
        #expect(
            try known(strange.replacing("\"sources\"", with: "\"sinks\"")) == endpoint.subtracting(["sessions"]))
        #expect(try known(strange) == endpoint.subtracting(["takes"]))
        let option = try known(
            ManifestText.least.replacing("\"usage\": \"bars:\"", with: "\"usage\": \"bars:\", \"options\": [{\(far)}]"))
        #expect(option == Set(try #require(schema.definitions["option"]?.properties).keys))
    }

    @Test("The types of options are those of the reader")
    func types() throws {
        let types = try #require(schema.definitions["option"]?.properties?["type"]?.enum)
        #expect(types == PluginOptionType.allCases.map(\.rawValue))
    }

    @Test("The reader reports missing required keys, too")
    func required() {
        let problems = ManifestText.problems("{}")
        for key in schema.required { #expect(problems.contains { $0.contains("\(key): it is missing") }) }
    }

    @Test("The reader enforces the limits of lengths and counts")
    func bounds() throws {
        for key in ["version", "summary"] {
            let most = try #require(schema.properties[key]?.maxLength)
            func problems(_ length: Int) -> [String] {
                let text = String(repeating: "x", count: length)
                let part = key == "version" ? "\"1\"" : "\"Bars.\""
                return ManifestText.problems(replacing: part, with: "\"\(text)\"")
            }
            #expect(problems(most) == [])
            #expect(problems(most + 1).count == 1)
        }
        let most = try #require(schema.properties["permissions"]?.maxItems)
        for (count, expected) in [(most, 0), (most + 1, 1)] {
            let list = Array(repeating: "\"network\"", count: count).joined(separator: ",")
            let problems = ManifestText.problems(
                replacing: "\"bars:\"}]", with: "\"bars:\"}], \"permissions\": [\(list)]")
            #expect(problems.count == expected)
        }
    }
}
