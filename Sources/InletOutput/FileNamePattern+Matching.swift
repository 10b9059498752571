extension FileNamePattern {
    /// What a name of the pattern says.
    package struct Match: Sendable, Hashable {
        /// Its number, or 0 where the pattern has none.
        package var number = 0
        /// From 2 on where the name has a number of its own before the extension.
        package var copy = 1
        fileprivate var date: Substring?
        fileprivate var time: Substring?
        fileprivate var utc: Substring?

        /// When the file began, in nanoseconds since 1970, where the name has date and time and they are those of a
        /// calendar.
        package var began: Int64? {
            if let utc { return CalendarTime.nanoseconds(digits: utc.filter(\.isNumber), in: .utc) }
            guard let date, let time else { return nil }
            return CalendarTime.nanoseconds(digits: date.filter(\.isNumber) + time, in: .local)
        }
    }

    /// The number of a name; nil where it is not one of the pattern's.
    package func number(of name: String) -> Int? { match(name)?.number }

    /// What a name, without the folder, says; nil where it is not one of the pattern's.
    package func match(_ name: String) -> Match? {
        if let match = Self.match(name[...], parts[...]) { return match }
        // A copy: -2 before the extension.
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex
        let stem = name[..<dot]
        guard let dash = stem.lastIndex(of: "-") else { return nil }
        let copy = stem[stem.index(after: dash)...]
        // A time of day, say, is no count of copies: the file is somebody else's.
        guard copy.count < 4, copy.first != "0", let count = Int(copy), count > 1 else { return nil }
        var match = Self.match((stem[..<dash] + name[dot...])[...], parts[...])
        match?.copy = count
        return match
    }

    private static func match(_ name: Substring, _ parts: ArraySlice<Part>) -> Match? {
        guard let part = parts.first else { return name.isEmpty ? Match() : nil }
        let next = parts.dropFirst()
        switch part {
        case .text(let text): return name.hasPrefix(text) ? match(name.dropFirst(text.count), next) : nil
        case .date: return match(name, shape: "0000-00-00", \.date, next)
        case .time: return match(name, shape: "000000", \.time, next)
        case .utc: return match(name, shape: "00000000T000000.000Z", \.utc, next)
        // A date, say, is no number of so few digits: the file is somebody else's.
        case .number(let digits):
            return match(name, digits: digits...max(digits + 1, 7), next) { $0.number = $1 }
        case .sequence: return match(name, digits: 1...mostDigits, next) { _, _ in }
        }
    }

    /// A count at the start of a name, as long as leaves to the other parts what is theirs.
    private static func match(
        _ name: Substring, digits: ClosedRange<Int>, _ next: ArraySlice<Part>, _ set: (inout Match, Int) -> Void
    ) -> Match? {
        let run = name.prefix { $0.isASCII && $0.isNumber }
        guard run.count >= digits.lowerBound else { return nil }
        for length in stride(from: min(run.count, digits.upperBound), through: digits.lowerBound, by: -1) {
            // More digits than asked for are no padding.
            guard length == digits.lowerBound || run.first != "0", let count = Int(run.prefix(length)),
                var found = match(name.dropFirst(length), next)
            else { continue }
            set(&found, count)
            return found
        }
        return nil
    }

    /// A field of digits and other characters as they stand in `shape`, where 0 is any digit.
    private static func match(
        _ name: Substring, shape: String, _ field: WritableKeyPath<Match, Substring?>, _ next: ArraySlice<Part>
    ) -> Match? {
        let text = name.prefix(shape.count)
        let fits = zip(text, shape).allSatisfy { $1 == "0" ? $0.isASCII && $0.isNumber : $0 == $1 }
        guard fits, text.count == shape.count, var found = match(name.dropFirst(shape.count), next) else { return nil }
        found[keyPath: field] = text
        return found
    }
}
