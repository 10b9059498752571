import FoundationEssentials
import InletCore
import InletPluginLoader

/// A source or sink that is opened to verify a plug-in.
struct VerificationTarget: Sendable {
    enum Configuration: Sendable {
        case source(PluginSourceConfiguration)
        case sink(PluginSinkConfiguration)
    }

    let endpoint: PluginEndpoint
    var configuration: Configuration

    /// Its URI, without credentials.
    var uri: String {
        switch configuration {
        case .source(let source): source.redactedURI
        case .sink(let sink): sink.redactedURI
        }
    }

    var isSink: Bool {
        if case .sink = configuration { return true }
        return false
    }

    /// Returns the target with another value of an option, in canonical form.
    func with(_ option: String, _ value: String) -> VerificationTarget {
        var changed = self
        func replace(_ options: inout [(name: String, value: String)]) {
            for index in options.indices where options[index].name == option { options[index].value = value }
        }
        switch configuration {
        case .source(var source):
            replace(&source.options)
            changed.configuration = .source(source)
        case .sink(var sink):
            replace(&sink.options)
            changed.configuration = .sink(sink)
        }
        return changed
    }

    /// Gives options of a sink that name files, and have no value, a file in a folder.
    func filled(in folder: String) -> VerificationTarget {
        guard case .sink(var sink) = configuration else { return self }
        for option in endpoint.options where option.type == .path {
            for index in sink.options.indices
            where sink.options[index].name == option.name && sink.options[index].value.isEmpty {
                // The sandbox lets it write to existing files.
                let path = "\(folder)/\(option.name)"
                _ = FileManager.default.createFile(atPath: path, contents: nil)
                sink.options[index].value = path
                sink.program.permissions.files.append(path)
            }
        }
        var changed = self
        changed.configuration = .sink(sink)
        return changed
    }
}

/// An option value with which a source is tried.
struct OptionTrial: Sendable, Hashable {
    let name: String
    /// The value in canonical form.
    let value: String
    /// Whether the manifest guarantees that the value works: it is a bound, a choice, or between two bounds.
    let isPromised: Bool

    /// The maximum number of values that are tried for one option.
    private static let most = 12
    /// The largest picture that is tried, in pixels.
    private static let mostPixels = 4096 * 4096

    /// The bounds and choices of all options except sizes.
    static func values(of endpoint: PluginEndpoint) -> [OptionTrial] {
        endpoint.options.filter { $0.type != .size }.flatMap { option -> [OptionTrial] in
            let values: [String]
            switch option.type {
            case .boolean: values = ["false", "true"]
            case .choice: values = option.choices
            case .integer, .number, .rational, .duration: values = [option.minimum, option.maximum].compactMap { $0 }
            case .text, .size, .secret, .path: values = []
            }
            return values.prefix(most).map { OptionTrial(name: option.name, value: $0, isPromised: true) }
        }
    }

    /// The smallest values of numbers, with which a source is likely to be slowest.
    static func leastValues(of endpoint: PluginEndpoint) -> [OptionTrial] {
        endpoint.options.filter { $0.type != .size && $0.type != .duration }.compactMap { option in
            option.minimum.map { OptionTrial(name: option.name, value: $0, isPromised: true) }
        }
    }

    /// Odd and small sizes, and the bounds.
    static func sizes(of endpoint: PluginEndpoint) -> [OptionTrial] {
        endpoint.options.filter { $0.type == .size }.flatMap { option -> [OptionTrial] in
            let isBounded = option.minimum != nil && option.maximum != nil
            var trials: [OptionTrial] = []
            for text in [option.minimum, "63x49", "101x35", "322x181", "641x361", option.maximum].compactMap({ $0 }) {
                guard let value = option.canonical(text), !trials.contains(where: { $0.value == value }) else {
                    continue
                }
                let isBound = value == option.minimum || value == option.maximum
                guard let size = ImageSize(optionText: value), size.width * size.height <= mostPixels else { continue }
                trials.append(OptionTrial(name: option.name, value: value, isPromised: isBounded || isBound))
            }
            return trials
        }
    }
}
