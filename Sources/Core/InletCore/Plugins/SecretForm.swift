/// How an option gives a secret.
enum SecretForm: CaseIterable {
    case value, file, variable

    /// The suffix added to the option's name.
    var suffix: String {
        switch self {
        case .value: ""
        case .file: "-file"
        case .variable: "-env"
        }
    }

    func resolve(_ text: String, option: String, _ access: LocalAccess) throws(InletError) -> String {
        switch self {
        case .value: text
        case .file: try access.secret(.file(text), option: option)
        case .variable: try access.secret(.variable(text), option: option)
        }
    }
}
