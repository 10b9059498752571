import InletCore

/// Reads one YAML document within limits.
///
/// Supports the part of YAML that configurations need: scalars, lists, and mappings with unique scalar keys. Rejects
/// tags, anchors and aliases, so that a text of a few bytes cannot expand to gigabytes.
package struct YAMLDocument {
    /// The maximum number of bytes of a text.
    package static let longest = 1_048_576
    /// The maximum nesting depth of lists and mappings.
    package static let deepest = 12
    /// The maximum number of values.
    package static let mostValues = 20_000

    private let parser: YAMLParser
    private var count = 0

    /// Returns the value in a text; nil if the text has no value.
    ///
    /// - Throws: the first problem, because the text after it cannot be read.
    package static func read(_ bytes: [UInt8]) throws(ConfigurationProblem) -> ConfigurationNode? {
        guard bytes.count <= longest else {
            throw ConfigurationProblem("The text has more than \(longest) bytes.", at: .none)
        }
        var document = try YAMLDocument(bytes)
        return try document.read()
    }

    private init(_ bytes: [UInt8]) throws(ConfigurationProblem) { parser = try YAMLParser(bytes) }

    private mutating func read() throws(ConfigurationProblem) -> ConfigurationNode? {
        var root: ConfigurationNode?
        var documents = 0
        while true {
            let (event, place) = try parser.next()
            switch event {
            case .streamEnd: return root
            case .documentStart:
                documents += 1
                guard documents == 1 else {
                    throw ConfigurationProblem(
                        "A second document begins here. Write everything in one document, without ---.", at: place)
                }
            case .other: break
            default: root = try value(event, place, depth: 0)
            }
        }
    }

    private mutating func value(
        _ event: YAMLParser.Event, _ place: ConfigurationNode.Place, depth: Int
    ) throws(ConfigurationProblem) -> ConfigurationNode {
        count += 1
        guard count <= Self.mostValues else {
            throw ConfigurationProblem("The text has more than \(Self.mostValues) values.", at: place)
        }
        guard depth <= Self.deepest else {
            throw ConfigurationProblem("Values are nested deeper than \(Self.deepest) levels.", at: place)
        }
        switch event {
        case .scalar(let text, let isPlain):
            let isEmpty = isPlain && (text.isEmpty || text == "~" || text == "null")
            return ConfigurationNode(isEmpty ? .empty : .scalar(text), at: place)
        case .listStart:
            var elements: [ConfigurationNode] = []
            while true {
                let (event, place) = try parser.next()
                if case .end = event { break }
                elements.append(try value(event, place, depth: depth + 1))
            }
            return ConfigurationNode(.list(elements), at: place)
        case .objectStart: return ConfigurationNode(.object(try members(depth: depth)), at: place)
        case .alias: throw YAMLParser.noAliases(place)
        case .end, .documentStart, .streamEnd, .other:
            throw ConfigurationProblem("A value is expected here.", at: place)
        }
    }

    private mutating func members(depth: Int) throws(ConfigurationProblem) -> [ConfigurationNode.Member] {
        var members: [ConfigurationNode.Member] = []
        // Keys are compared as bytes, because other readers treat two Unicode spellings of a letter as different keys.
        var lines: [[UInt8]: Int] = [:]
        while true {
            let (event, place) = try parser.next()
            if case .end = event { return members }
            guard case .scalar(let key, _) = event else {
                throw ConfigurationProblem("A key is expected here, as a single word before a colon.", at: place)
            }
            if let line = lines.updateValue(place.line, forKey: Array(key.utf8)) {
                throw ConfigurationProblem(
                    "The key '\(Redaction.redact(key))' appears here and in line \(line). Remove one of them.",
                    at: place)
            }
            let (next, nextPlace) = try parser.next()
            members.append(.init(key: key, place: place, value: try value(next, nextPlace, depth: depth + 1)))
        }
    }
}
