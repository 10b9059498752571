/// Finds the name that was probably meant.
public enum Spelling {
    /// Returns the name nearest to `word` by Damerau's edit distance, or nil if none is near enough. If several are
    /// equally near, one with the same letters in another order comes first, because it needs no other key.
    public static func nearest(to word: String, among names: [String]) -> String? {
        let limit = max(1, (word.count + 1) / 2)
        let letters = word.lowercasedASCII.utf8.sorted()
        return names.map { ($0, distance(word.lowercasedASCII, $0.lowercasedASCII)) }
            .filter { $0.1 <= limit }
            .min { ($0.1, isOther($0.0, letters)) < ($1.1, isOther($1.0, letters)) }?.0
    }

    /// 1 if a name has other letters, otherwise 0.
    private static func isOther(_ name: String, _ letters: [UInt8]) -> Int {
        name.lowercasedASCII.utf8.sorted() == letters ? 0 : 1
    }

    /// Returns how many letters must be added, removed, changed or swapped with their neighbour.
    static func distance(_ left: String, _ right: String) -> Int {
        let a = Array(left)
        let b = Array(right)
        var rows = [Array(0...b.count)]
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
