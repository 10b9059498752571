/// The documents match the tree: links resolve, and plug-ins describe their options.
enum DocumentRule {
    /// The targets of the relative links of a Markdown text, without their anchors, with the line of each.
    static func links(in text: String) -> [(target: String, line: Int)] {
        var found: [(String, Int)] = []
        var isInCode = false
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.drop(while: { $0 == " " }).hasPrefix("```") { isInCode.toggle() }
            guard !isInCode else { continue }
            for link in withoutCodeSpans(line).matches(of: /\]\(\s*<?([^)\s>]+)/) {
                let target = link.output.1
                guard !target.contains("://"), !target.hasPrefix("mailto:"), !target.hasPrefix("#") else { continue }
                found.append((String(target.prefix { $0 != "#" }), index + 1))
            }
        }
        return found
    }

    static func checkLinks(_ file: HouseTree.File, exists: (String) -> Bool) -> [Violation] {
        let folder = file.path.split(separator: "/").dropLast()
        return links(in: file.text).compactMap { target, line in
            var path = target.hasPrefix("/") ? [] : Array(folder)
            for part in target.split(separator: "/") where part != "." {
                if part != ".." {
                    path.append(part)
                } else if path.popLast() == nil {
                    return Violation(path: file.path, line: line, message: "the link '\(target)' leaves the package")
                }
            }
            if exists(path.joined(separator: "/")) { return nil }
            return Violation(path: file.path, line: line, message: "the link '\(target)' leads nowhere")
        }
    }

    /// The options that a plug-in's code declares: the first argument of every `PluginOption(`.
    static func declaredOptions(in code: String) -> [String] {
        code.matches(of: /PluginOption(?:<[^>]*>)?(?:\.(?:secret|file))?\(\s*"([^"]+)"/).map { String($0.output.1) }
    }

    /// The options that a README's tables name: the first cell of a row, in backquotes.
    static func documentedOptions(in readme: String) -> Set<String> {
        Set(readme.matches(of: /(?m)^\|\s*`([^`=]+)(?:=[^`]*)?`\s*\|/).map { String($0.output.1) })
    }

    static func checkOptions(readme: HouseTree.File, sources: [String]) -> [Violation] {
        let documented = documentedOptions(in: readme.text)
        return sources.flatMap(declaredOptions).filter { !documented.contains($0) }.map {
            Violation(path: readme.path, message: "the table of options has no row for `\($0)`")
        }
    }

    private static func withoutCodeSpans(_ line: Substring) -> String {
        line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "" }.joined()
    }
}
