import InletCore

extension ManifestReader {
    /// Returns the sources or sinks that a list declares.
    mutating func endpoints(_ value: JSONValue?, _ path: String, areSinks: Bool) -> [PluginEndpoint] {
        var taken: Set<String> = []
        return list(value, path, most: 16).enumerated().compactMap { index, element in
            endpoint(element, "\(path)[\(index)]", isSink: areSinks, &taken)
        }
    }

    private mutating func endpoint(
        _ value: JSONValue, _ path: String, isSink: Bool, _ taken: inout Set<String>
    ) -> PluginEndpoint? {
        let optional = ["options", "examples"] + [isSink ? "takes" : "sessions"]
        guard let members = object(value, path, required: ["schemes", "usage"], optional: optional) else { return nil }
        let takes = text(
            members["takes"], "\(path).takes", longest: 32, "write \"pictures\" or \"packets\"",
            where: ["pictures", "packets"].contains)
        let sessions = text(
            members["sessions"], "\(path).sessions", longest: 32, "write \"one\" or \"many\"",
            where: ["one", "many"].contains)
        let schemes = schemes(members["schemes"], "\(path).schemes", &taken)
        let usage = text(members["usage"], "\(path).usage", longest: 200)
        var names: Set<String> = []
        let options = list(members["options"], "\(path).options", most: 64).enumerated().compactMap {
            option($1, "\(path).options[\($0)]", &names)
        }
        checkSecretForms(members["options"], "\(path).options", options)
        guard !schemes.isEmpty, let usage else { return nil }
        let descriptions = options.map { $0.description(schemes: schemes) }
        let examples = list(members["examples"], "\(path).examples", most: 16).enumerated().compactMap {
            example($1, "\(path).examples[\($0)]", schemes, descriptions)
        }
        return PluginEndpoint(
            schemes: schemes, usage: usage, options: options, examples: examples, takesPackets: takes == "packets",
            allowsOneSession: sessions.map { $0.isSameBytes(as: "one") })
    }

    private mutating func schemes(_ value: JSONValue?, _ path: String, _ taken: inout Set<String>) -> [String] {
        if let value, value.elements?.isEmpty == true { report(value, path, "it is empty; name a scheme") }
        var schemes: [String] = []
        for (index, element) in list(value, path, most: 16).enumerated() {
            let place = "\(path)[\(index)]"
            let scheme = text(
                element, place, longest: 32,
                "write a lower-case letter, then such letters, digits, + - or ., such as \"bars\"",
                where: { Self.isName($0, also: "+-.") })
            guard let scheme else { continue }
            guard taken.insert(scheme).inserted else {
                report(element, place, "the scheme \"\(scheme)\" is declared twice; leave one out")
                continue
            }
            schemes.append(scheme)
        }
        return schemes
    }

    private mutating func example(
        _ value: JSONValue, _ path: String, _ schemes: [String], _ options: [PluginOptionDescription]
    ) -> String? {
        guard let text = text(value, path, longest: 200) else { return nil }
        do throws(InletError) {
            let uri = try PluginURI(text)
            guard schemes.contains(uri.scheme) else {
                report(value, path, "\"\(text)\" has none of the schemes declared here; begin it with \(schemes[0]):")
                return nil
            }
            // No file is read: an example may name any file or variable.
            let access = LocalAccess { _ throws(InletError) in [UInt8(ascii: "x")] }
            _ = try PluginOptionValues(uri, declared: options, access: access)
        } catch {
            report(value, path, error.message)
            return nil
        }
        return text
    }

    /// Reports options whose names are other ways to give a secret.
    private mutating func checkSecretForms(_ value: JSONValue?, _ path: String, _ options: [PluginManifestOption]) {
        guard let value else { return }
        for secret in options where secret.type == .secret {
            for name in ["\(secret.name)-file", "\(secret.name)-env"] where options.contains(where: { $0.name == name })
            {
                report(
                    value, path, "\"\(name)\" is how users name the place of the secret \"\(secret.name)\"; rename one")
            }
        }
    }

    private mutating func option(
        _ value: JSONValue, _ path: String, _ names: inout Set<String>
    ) -> PluginManifestOption? {
        guard
            let members = object(
                value, path, required: ["name", "type", "summary"],
                optional: ["default", "minimum", "maximum", "choices", "unit", "access"])
        else { return nil }
        let name = text(
            members["name"], "\(path).name", longest: 32,
            "write a lower-case letter, then such letters, digits and hyphens, such as \"frame-rate\"",
            where: { Self.isName($0) })
        if let name, !names.insert(name).inserted, let value = members["name"] {
            report(value, "\(path).name", "the option \"\(name)\" is declared twice; leave one out")
        }
        let summary = text(members["summary"], "\(path).summary", longest: 200)
        let unit = text(members["unit"], "\(path).unit", longest: 32)
        let types = PluginOptionType.allCases.map(\.rawValue)
        let word = text(
            members["type"], "\(path).type", longest: 32, "write one of \(types.joined(separator: ", "))",
            where: types.contains)
        guard let name, let summary, let type = word.flatMap(PluginOptionType.init) else { return nil }

        let access = text(
            members["access"], "\(path).access", longest: 32, "write \"use\" or \"create\"",
            where: ["use", "create"].contains)
        if let place = members["access"], type != .path {
            report(place, "\(path).access", "an option of type \(type.rawValue) names no file; leave it out")
        }
        let choices = choices(members["choices"], "\(path).choices", type)
        if type == .choice, members["choices"] == nil {
            report(value, "\(path).choices", "it is missing; list the words that may be chosen")
        }
        let minimum = bound(members["minimum"], "\(path).minimum", type)
        let maximum = bound(members["maximum"], "\(path).maximum", type)
        if let minimum, let maximum, !type.isOrdered(minimum, maximum), let place = members["minimum"] {
            report(place, "\(path).minimum", "it is greater than the maximum; exchange them")
            return nil
        }
        func made(defaultValue: String?) -> PluginManifestOption {
            PluginManifestOption(
                name: name, type: type, defaultValue: defaultValue, minimum: minimum, maximum: maximum,
                choices: choices, createsFile: access == "create", unit: unit, summary: summary)
        }
        return made(defaultValue: defaultValue(members["default"], "\(path).default", made(defaultValue: nil)))
    }

    private mutating func choices(_ value: JSONValue?, _ path: String, _ type: PluginOptionType) -> [String] {
        guard let value else { return [] }
        guard type == .choice else {
            report(value, path, "an option of type \(type.rawValue) has no choices; leave them out")
            return []
        }
        if value.elements?.isEmpty == true { report(value, path, "it is empty; list the words that may be chosen") }
        var choices: [String] = []
        for (index, element) in list(value, path, most: 64).enumerated() {
            let place = "\(path)[\(index)]"
            let word = text(
                element, place, longest: 64, "write a word without spaces, & or |",
                where: { $0.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "|") } })
            guard let word else { continue }
            if choices.contains(word) {
                report(element, place, "\"\(word)\" is listed twice; leave one out")
            } else {
                choices.append(word)
            }
        }
        return choices
    }

    private mutating func bound(_ value: JSONValue?, _ path: String, _ type: PluginOptionType) -> String? {
        guard let value else { return nil }
        guard type.isOrdered else {
            report(value, path, "values of type \(type.rawValue) have no order; leave it out")
            return nil
        }
        guard let bound = Self.text(value, type).flatMap(type.canonical) else {
            report(value, path, "it is not of type \(type.rawValue); write \(type.advice)")
            return nil
        }
        return bound
    }

    private mutating func defaultValue(
        _ value: JSONValue?, _ path: String, _ option: PluginManifestOption
    ) -> String? {
        guard let value else { return nil }
        let type = option.type
        guard type != .secret, type != .path else {
            report(value, path, "an option of type \(type.rawValue) has no default; leave it out")
            return nil
        }
        guard let text = Self.text(value, type), let canonical = type.canonical(text),
            text.sanitized(limit: 200).isSameBytes(as: text)
        else {
            report(value, path, "it is not of type \(type.rawValue); write \(type.advice)")
            return nil
        }
        guard option.canonical(canonical) != nil else {
            let allowed = type == .choice ? "one of \(option.choices.joined(separator: ", "))" : option.range ?? ""
            report(value, path, "\(text) is out of range; write \(allowed)")
            return nil
        }
        return canonical
    }

    /// Returns the text of a value written in the form of a type; nil if it is written otherwise.
    private static func text(_ value: JSONValue, _ type: PluginOptionType) -> String? {
        switch (type, value.content) {
        case (.integer, .number(let text)), (.number, .number(let text)), (.rational, .number(let text)),
            (.rational, .string(let text)), (.text, .string(let text)), (.size, .string(let text)),
            (.duration, .string(let text)), (.choice, .string(let text)):
            text
        case (.boolean, .boolean(let isTrue)): isTrue ? "true" : "false"
        default: nil
        }
    }
}
