package import InletCore

extension ConfigurationShape {
    /// Returns the JSON Schema (draft 2020-12) of the shape.
    package var schema: JSONValue {
        switch self {
        case .scalar(let rule): rule.schema
        case .list(let element, let most):
            .object([("type", .text("array")), ("maxItems", .number(most)), ("items", element.schema)])
        case .object(let keys): Self.schema(of: keys)
        case .map(_, let names, let shape, let most):
            .object([
                ("type", .text("object")), ("maxProperties", .number(most)), ("propertyNames", names.schema),
                ("additionalProperties", shape.schema),
            ])
        case .scalarOrObject(let rule, let keys): .object([("anyOf", .list([rule.schema, Self.schema(of: keys)]))])
        }
    }

    /// - Returns: a schema that allows only known keys. Optional keys may be null.
    private static func schema(of keys: [ConfigurationKey]) -> JSONValue {
        let properties = keys.map { key -> (String, JSONValue) in
            var members = [("description", JSONValue.text(key.description))]
            if key.isRequired {
                members.append(("allOf", .list([key.shape.schema])))
            } else {
                members.append(("anyOf", .list([key.shape.schema, .object([("type", .text("null"))])])))
            }
            return (key.name, .object(members))
        }
        let required = keys.filter(\.isRequired).map { JSONValue.text($0.name) }
        return .object(
            [("type", .text("object")), ("additionalProperties", .boolean(false)), ("properties", .object(properties))]
                + (required.isEmpty ? [] : [("required", .list(required))]))
    }
}

extension ConfigurationKey {
    /// The key's purpose and its default, for people.
    package var description: String {
        defaultText.map { "\(summary). The default is \($0)." } ?? "\(summary)."
    }
}

extension ScalarRule {
    fileprivate var schema: JSONValue {
        var text = [("type", JSONValue.text("string"))]
        if let pattern { text.append(("pattern", .text("^(\(pattern))$"))) }
        guard !types.isEmpty else { return .object(text) }
        let others = JSONType.allCases.filter(types.contains).map { type -> JSONValue in
            // A negative number or 0 is checked only as text.
            .object(
                [("type", .text(type.rawValue))]
                    + (type == .boolean ? [] : [("minimum", .number(0))]))
        }
        return .object([("anyOf", .list([.object(text)] + others))])
    }
}
