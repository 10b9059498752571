/// The fields of a status line. Those that matter least are left out if the terminal is too narrow for all.
struct StatusFields {
    /// The importance of a field, the most important first.
    enum Rank: Int {
        case state, trouble, rate, detail, extra
    }

    private var fields: [(text: String, rank: Rank)] = []

    mutating func append(_ text: String, _ rank: Rank) { fields.append((text, rank)) }

    /// The fields in the order in which they were appended, in at most `width` characters.
    func text(width: Int) -> String {
        var shown = fields
        while shown.count > 1, Self.length(of: shown) > width {
            // The last of several fields with the same rank is left out first.
            let fromLast = shown.indices.reversed()
            guard let least = fromLast.max(by: { shown[$0].rank.rawValue < shown[$1].rank.rawValue }),
                shown[least].rank.rawValue > Rank.trouble.rawValue
            else { break }
            shown.remove(at: least)
        }
        let text = shown.map(\.text).joined(separator: "  ")
        guard text.unicodeScalars.count > width else { return text }
        return String(text.unicodeScalars.prefix(max(0, width - 3))) + "..."
    }

    private static func length(of fields: [(text: String, rank: Rank)]) -> Int {
        fields.reduce(-2) { $0 + $1.text.unicodeScalars.count + 2 }
    }
}
