import Foundation

/// Damages inputs, in the same way for the same seed.
struct Mutation {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    /// xorshift64*, by Vigna (2016).
    private mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    private mutating func below(_ count: Int) -> Int { Int(next() % UInt64(max(1, count))) }

    /// Flips, cuts, duplicates, and overwrites bytes.
    mutating func spoil(_ data: Data) -> Data {
        var bytes = [UInt8](data)
        for _ in 0..<1 + below(4) where !bytes.isEmpty {
            let place = below(bytes.count)
            let length = min(bytes.count - place, 1 + below(64))
            switch below(6) {
            case 0: bytes[place] ^= UInt8(1 << below(8))
            case 1: bytes[place] = [0, 255, 0x7f, 0x80][below(4)]
            case 2: bytes.removeSubrange(place..<place + length)
            case 3: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
            case 4: for index in place..<place + length { bytes[index] = UInt8(truncatingIfNeeded: next()) }
            default: if below(4) == 0 { bytes.removeSubrange(place...) } else { bytes[place] &+= 1 }
            }
        }
        return Data(bytes)
    }

    /// Also replaces numbers by unexpected ones, and duplicates and drops lines.
    mutating func spoil(text: String) -> Data {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let numbers = [
            "-1", "0", "4294967296", "18446744073709551616", "2147483647", "1e309", "99999999999999999999999", "",
        ]
        for _ in 0..<1 + below(4) where !lines.isEmpty {
            let place = below(lines.count)
            switch below(5) {
            case 0: lines.remove(at: place)
            case 1: lines.insert(lines[place], at: below(lines.count))
            case 2: lines[place] += String(repeating: lines[place] + ";", count: 1 + below(40))
            default:
                let parts = lines[place].split(separator: "/", omittingEmptySubsequences: false)
                lines[place] = parts.map { part in
                    part.contains(where: \.isNumber) && below(2) == 0
                        ? String(part.prefix { !$0.isNumber }) + numbers[below(numbers.count)] : String(part)
                }.joined(separator: "/")
            }
        }
        let data = Data(lines.joined(separator: "\n").utf8)
        return below(2) == 0 ? spoil(data) : data
    }
}
