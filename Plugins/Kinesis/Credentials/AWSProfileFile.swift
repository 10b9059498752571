import InletCore

/// The shared files of AWS's tools, `~/.aws/credentials` and `~/.aws/config`: sections in brackets, with a line for
/// each setting (https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html). A value without input or output.
struct AWSProfileFile: Sendable {
    /// The settings of each profile, with names in lower case.
    private var profiles: [String: [String: String]] = [:]
    /// The settings of each single sign-on session, with names in lower case.
    private var sessions: [String: [String: String]] = [:]
    private enum Section {
        case profile(String)
        case session(String)
    }
    private static let mostLines = 10_000

    /// Parses a file.
    ///
    /// - Parameters:
    ///   - isConfig: whether profiles other than `default` are in sections `[profile NAME]`.
    ///   - path: the file's name for errors, which quote none of its content.
    /// - Throws: ``InletError/Code/malformedData`` with the line number.
    init(_ text: String, isConfig: Bool, path: String) throws(InletError) {
        var section: Section?
        let lines = text.split(atByte: "\n")
        guard lines.count <= Self.mostLines else {
            throw InletError(.malformedData, "'\(path)' has more than \(Self.mostLines) lines.")
        }
        for (index, line) in lines.enumerated() {
            let content = line.trimmed()
            guard let first = content.utf8.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else {
                continue
            }
            // Indented lines continue a setting, like nested ones of services.
            if let start = line.utf8.first, start.isASCIISpace, first != UInt8(ascii: "[") { continue }
            if first == UInt8(ascii: "[") {
                guard let end = content.firstIndex(ofByte: "]") else {
                    throw Self.error(path, index, "a section lacks its ]")
                }
                section = Self.section(
                    content[content.index(after: content.startIndex)..<end].trimmed(), isConfig: isConfig)
                continue
            }
            guard let equals = content.firstIndex(ofByte: "=") else {
                throw Self.error(path, index, "a setting is NAME = VALUE")
            }
            guard let section else { continue }
            let name = content[..<equals].trimmed().lowercasedASCII
            let value = String(content[content.index(after: equals)...].trimmed())
            switch section {
            case .profile(let profile): profiles[profile, default: [:]][name] = value
            case .session(let session): sessions[session, default: [:]][name] = value
            }
        }
    }

    /// Returns whether the file has a profile with this name.
    func has(_ profile: String) -> Bool { profiles[profile] != nil }

    /// Returns a setting of a profile; nil if it is missing or empty.
    func setting(_ name: String, of profile: String) -> String? {
        profiles[profile]?[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns whether the file has a single sign-on session with this name, with any setting.
    func hasSession(_ session: String) -> Bool { sessions[session] != nil }

    /// Returns a setting of a single sign-on session; nil if it is missing or empty.
    func setting(_ name: String, ofSession session: String) -> String? {
        sessions[session]?[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the owner of the settings that follow; nil for other sections.
    private static func section(_ section: Substring, isConfig: Bool) -> Section? {
        let words = section.utf8.split(whereSeparator: \.isASCIISpace).map { String(Substring($0)) }
        guard isConfig, words != ["default"] else { return words.count == 1 ? .profile(words[0]) : nil }
        guard words.count == 2 else { return nil }
        if words[0].isSameBytes(as: "profile") { return .profile(words[1]) }
        return words[0].isSameBytes(as: "sso-session") ? .session(words[1]) : nil
    }

    private static func error(_ path: String, _ index: Int, _ what: String) -> InletError {
        InletError(.malformedData, "'\(path)', line \(index + 1): \(what). Correct the file.")
    }
}
