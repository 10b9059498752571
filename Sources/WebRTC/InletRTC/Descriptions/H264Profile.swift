import InletCore

/// The profile of an H.264 stream, read from its first sequence parameter set (ITU-T H.264, 7.3.2.1.1 and annex A.2).
package struct H264Profile: Sendable, Hashable {
    /// `profile_idc`: 66 is baseline, 77 main, 100 high.
    package let number: UInt8
    /// The constraint flags, set 0 in the highest bit.
    package let constraints: UInt8

    package init(number: UInt8, constraints: UInt8) {
        self.number = number
        self.constraints = constraints
    }

    /// Reads the profile from parameter sets with start codes; nil if there is no sequence parameter set among them.
    package init?(_ parameterSets: [UInt8]) {
        for start in parameterSets.indices.dropLast(5) where parameterSets[start...].starts(with: [0, 0, 1]) {
            guard parameterSets[start + 3] & 0x1f == 7 else { continue }
            self.init(number: parameterSets[start + 4], constraints: parameterSets[start + 5])
            return
        }
        return nil
    }

    /// Returns whether a peer with this negotiated `profile-level-id` can decode the profile.
    package func isTaken(by profile: String) -> Bool { takers.contains { profile.lowercasedASCII.hasBytePrefix($0) } }

    /// The beginnings of the `profile-level-id` of peers that decode the profile (RFC 6184, 8.1), the nearest first;
    /// empty for a profile that no browser supports.
    var takers: [String] {
        let isConstrained = constraints & 0x40 != 0
        return switch number {
        case 66 where isConstrained: ["42e0", "42c0", "4200", "42", "4d", "64"]
        case 66: ["4200"]
        case 77: ["4d", "64"]
        case 100: ["64"]
        default: []
        }
    }
}
