import CYAML
import InletCore

// Unsafe: owns libyaml's parser.
/// Owns libyaml's parser, and returns its events one by one.
///
/// Confined to one thread. No memory of libyaml leaves this class. It uses libyaml's events instead of a composer,
/// because composers recurse without a limit and expand aliases.
@safe final class YAMLParser {
    /// The next element of the text.
    enum Event {
        /// - Parameter isPlain: whether the scalar has no quotation marks, so that `null` is the null value.
        case scalar(String, isPlain: Bool)
        case listStart
        case objectStart
        /// The end of a list or an object.
        case end
        case documentStart
        case streamEnd
        /// A reference to another part of the text.
        case alias
        /// The start or the end of an element that has no meaning here.
        case other
    }

    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: UnsafeMutableBufferPointer<UInt8>

    /// - Throws: a problem if memory cannot be allocated.
    init(_ bytes: [UInt8]) throws(ConfigurationProblem) {
        unsafe parser = .allocate(capacity: 1)
        unsafe text = .allocate(capacity: max(1, bytes.count))
        _ = unsafe text.initialize(fromContentsOf: bytes)
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            unsafe parser.deallocate()
            unsafe text.deallocate()
            throw ConfigurationProblem("There is not enough memory to read the text.", at: .none)
        }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, text.baseAddress, bytes.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe text.deallocate()
    }

    /// Returns the next event and the place where it begins.
    ///
    /// - Throws: a problem if the text is not valid YAML, or contains tags or anchors.
    func next() throws(ConfigurationProblem) -> (Event, ConfigurationNode.Place) {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw failure }
        defer { unsafe yaml_event_delete(&event) }
        let place = unsafe Self.place(event.start_mark)
        switch unsafe event.type {
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            try refuse(unsafe scalar.anchor != nil, unsafe scalar.tag != nil, at: place)
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            return (
                .scalar(unsafe String(decoding: bytes, as: UTF8.self), isPlain: unsafe scalar.plain_implicit == 1),
                place
            )
        case YAML_SEQUENCE_START_EVENT:
            try refuse(
                unsafe event.data.sequence_start.anchor != nil, unsafe event.data.sequence_start.tag != nil, at: place)
            return (.listStart, place)
        case YAML_MAPPING_START_EVENT:
            try refuse(
                unsafe event.data.mapping_start.anchor != nil, unsafe event.data.mapping_start.tag != nil, at: place)
            return (.objectStart, place)
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return (.end, place)
        case YAML_DOCUMENT_START_EVENT: return (.documentStart, place)
        case YAML_STREAM_END_EVENT: return (.streamEnd, place)
        case YAML_ALIAS_EVENT: return (.alias, place)
        default: return (.other, place)
        }
    }

    private func refuse(_ hasAnchor: Bool, _ hasTag: Bool, at place: ConfigurationNode.Place)
        throws(ConfigurationProblem)
    {
        if hasAnchor { throw Self.noAliases(place) }
        if hasTag {
            throw ConfigurationProblem(
                "Tags, which begin with !, are not supported. Put the text in quotation marks.", at: place)
        }
    }

    /// Returns the problem of an anchor or an alias.
    static func noAliases(_ place: ConfigurationNode.Place) -> ConfigurationProblem {
        ConfigurationProblem(
            "Anchors (&) and aliases (*) are not supported. Put the settings for all cameras under defaults:, and put text that begins with & or * in quotation marks.",
            at: place)
    }

    private var failure: ConfigurationProblem {
        let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "it is not YAML"
        if unsafe parser.pointee.error == YAML_READER_ERROR {
            let before = unsafe text[..<min(text.count, parser.pointee.problem_offset)]
            let line = unsafe before.count { $0 == UInt8(ascii: "\n") } + 1
            return ConfigurationProblem(
                "The text is not UTF-8, or has control characters (\(problem)). Save the file as UTF-8.",
                at: .init(line: line, column: 0))
        }
        return ConfigurationProblem(
            "This is not YAML: \(problem). Check the indentation, which must use spaces, and the colons. Put text with a # or with a colon and a space in quotation marks.",
            at: unsafe Self.place(parser.pointee.problem_mark))
    }

    private static func place(_ mark: yaml_mark_t) -> ConfigurationNode.Place {
        .init(line: Int(clamping: mark.line) + 1, column: Int(clamping: mark.column) + 1)
    }
}
