import InletCore

extension FileNamePattern {
    /// The fields of a name that matches the pattern.
    package struct Match: Sendable, Hashable {
        /// The number, or 0 if the pattern has none.
        package var number = 0
        /// The number of the copy: from 2 on if the name has a `-2` or similar before the extension.
        package var copy = 1
        fileprivate var date: ArraySlice<UInt8>?
        fileprivate var time: ArraySlice<UInt8>?
        fileprivate var utc: ArraySlice<UInt8>?

        /// When the file began, in nanoseconds since 1970, if the name has a valid date and time.
        package var began: Int64? {
            if let utc { return Self.nanoseconds(utc, in: .utc) }
            guard let date, let time else { return nil }
            return Self.nanoseconds(date + time, in: .local)
        }

        private static func nanoseconds(_ text: ArraySlice<UInt8>, in zone: CalendarTime.Zone) -> Int64? {
            let digits = String(decoding: text.filter(\.isASCIIDigit), as: UTF8.self)
            return CalendarTime.nanoseconds(digits: digits, in: zone)
        }
    }

    /// Returns the number of a name; nil if it does not match the pattern.
    package func number(of name: String) -> Int? { match(name)?.number }

    /// Returns the fields of a name, without the folder; nil if it does not match the pattern.
    package func match(_ name: String) -> Match? {
        // Two names that only look the same are two files.
        let name = Array(name.utf8)[...]
        if let match = Self.match(name, parts[...]) { return match }
        // A copy: -2 before the extension.
        let dot = name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex
        let stem = name[..<dot]
        guard let dash = stem.lastIndex(of: UInt8(ascii: "-")) else { return nil }
        let copy = stem[(dash + 1)...]
        // Anything else, such as a time of day, is not a copy number: Inlet did not write the file.
        guard copy.count < 4, copy.first != UInt8(ascii: "0"), let count = TextBytes.number(copy), count > 1 else {
            return nil
        }
        var match = Self.match(stem[..<dash] + name[dot...], parts[...])
        match?.copy = count
        return match
    }

    private static func match(_ name: ArraySlice<UInt8>, _ parts: ArraySlice<Part>) -> Match? {
        guard let part = parts.first else { return name.isEmpty ? Match() : nil }
        let next = parts.dropFirst()
        switch part {
        case .text(let text): return name.starts(with: text.utf8) ? match(name.dropFirst(text.utf8.count), next) : nil
        case .date: return match(name, shape: "0000-00-00", \.date, next)
        case .time: return match(name, shape: "000000", \.time, next)
        case .utc: return match(name, shape: "00000000T000000.000Z", \.utc, next)
        // Anything else, such as a date, is not a number with this few digits: Inlet did not write the file.
        case .number(let digits):
            return match(name, digits: digits...max(digits + 1, 7), next) { $0.number = $1 }
        case .sequence: return match(name, digits: 1...mostDigits, next) { _, _ in }
        }
    }

    /// Matches a count at the start of a name, as long as it leaves enough to the other parts.
    private static func match(
        _ name: ArraySlice<UInt8>, digits: ClosedRange<Int>, _ next: ArraySlice<Part>, _ set: (inout Match, Int) -> Void
    ) -> Match? {
        let run = name.prefix(while: \.isASCIIDigit)
        guard run.count >= digits.lowerBound else { return nil }
        for length in stride(from: min(run.count, digits.upperBound), through: digits.lowerBound, by: -1) {
            // A leading zero is padding only up to the minimum number of digits.
            guard length == digits.lowerBound || run.first != UInt8(ascii: "0"),
                let count = TextBytes.number(run.prefix(length), upTo: .max),
                var found = match(name.dropFirst(length), next)
            else { continue }
            set(&found, count)
            return found
        }
        return nil
    }

    /// Matches a field of digits and other characters that correspond to `shape`, where 0 is any digit.
    private static func match(
        _ name: ArraySlice<UInt8>, shape: StaticString, _ field: WritableKeyPath<Match, ArraySlice<UInt8>?>,
        _ next: ArraySlice<Part>
    ) -> Match? {
        let shape = Array("\(shape)".utf8)
        let text = name.prefix(shape.count)
        let fits = zip(text, shape).allSatisfy { $1 == UInt8(ascii: "0") ? $0.isASCIIDigit : $0 == $1 }
        guard fits, text.count == shape.count, var found = match(name.dropFirst(shape.count), next) else { return nil }
        found[keyPath: field] = text
        return found
    }
}
