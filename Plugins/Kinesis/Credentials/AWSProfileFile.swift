import InletCore

/// The shared files of AWS's tools, `~/.aws/credentials` and `~/.aws/config`: sections in brackets, with a line for
/// each setting (https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html). A value without input or output.
struct AWSProfileFile: Sendable {
    /// The path of the file.
    let path: String
    /// Whether it is the configuration, not the file of keys.
    let isConfig: Bool
    /// The settings of each profile, with names in lower case.
    private var profiles: [String: [String: String]] = [:]
    private static let mostLines = 10_000

    /// Parses a file.
    ///
    /// - Parameters:
    ///   - isConfig: whether profiles other than `default` are in sections `[profile NAME]`.
    ///   - path: the file's name for errors, which quote none of its content.
    /// - Throws: ``InletError/Code/malformedData`` with the line number.
    init(_ text: String, isConfig: Bool, path: String) throws(InletError) {
        (self.path, self.isConfig) = (path, isConfig)
        var profile: String?
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
                profile = Self.profile(
                    content[content.index(after: content.startIndex)..<end].trimmed(), isConfig: isConfig)
                continue
            }
            guard let equals = content.firstIndex(ofByte: "=") else {
                throw Self.error(path, index, "a setting is NAME = VALUE")
            }
            guard let profile else { continue }
            let name = content[..<equals].trimmed().lowercasedASCII
            profiles[profile, default: [:]][name] = String(content[content.index(after: equals)...].trimmed())
        }
    }

    /// Returns whether the file has a profile with this name.
    func has(_ profile: String) -> Bool { profiles[profile] != nil }

    /// Returns a setting of a profile; nil if it is missing or empty.
    func setting(_ name: String, of profile: String) -> String? {
        profiles[profile]?[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the profile whose settings follow; nil for other sections.
    private static func profile(_ section: Substring, isConfig: Bool) -> String? {
        let words = section.utf8.split(whereSeparator: \.isASCIISpace).map { String(Substring($0)) }
        guard isConfig, words != ["default"] else { return words.count == 1 ? words[0] : nil }
        return words.count == 2 && words[0].isSameBytes(as: "profile") ? words[1] : nil
    }

    private static func error(_ path: String, _ index: Int, _ what: String) -> InletError {
        InletError(.malformedData, "'\(path)', line \(index + 1): \(what). Correct the file.")
    }
}
