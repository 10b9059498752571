import InletCore
import InletOutput
import InletHTTP

/// What is known of a recording besides its pictures, as it stands in the file beside it. A value without I/O.
struct RecordingNote: Sendable, Hashable {
    var camera: String
    /// The place in the order of all recordings of the camera.
    var number: Int64
    /// The time of day of its first picture, in nanoseconds since 1970.
    var start: Int64
    /// What asked for it: `api`, or the kind of an event.
    var cause: String
    /// When it was asked for, in nanoseconds since 1970.
    var asked: Int64
    /// Its length up to the last picture; nil while it is written, and if the daemon was killed meanwhile.
    var length: Duration?
    var gaps: [GapDetector.Gap] = []
    /// The gaps that are not listed, as there are too many.
    var moreGaps = 0
    /// Why it ended early; nil if it did not.
    var failure: String?

    /// The most gaps that are listed.
    static let mostGaps = 1000
    /// The most bytes of a note: gaps of 80 bytes.
    static let longest = 131_072

    /// The bytes at the start of a note that hold its number.
    static let numberLength = 64

    /// Returns the number in the first bytes of a note; nil if it has none. A note with many gaps takes far longer to
    /// read as a whole.
    static func number(atStartOf bytes: [UInt8]) -> Int64? {
        var rest = bytes[...]
        for token in ["{", "\"number\"", ":"] {
            rest = rest.drop(while: \.isASCIISpace)
            guard rest.starts(with: token.utf8) else { return nil }
            rest = rest.dropFirst(token.utf8.count)
        }
        let digits = rest.drop(while: \.isASCIISpace).prefix(while: \.isASCIIDigit)
        return TextBytes.number(digits, upTo: .max).map { Int64($0) }
    }

    mutating func add(_ gap: GapDetector.Gap) {
        if gaps.count < Self.mostGaps { gaps.append(gap) } else { moreGaps += 1 }
    }

    /// The members of the note in JSON. Gaps have the time of day at which they begin, and lengths are in seconds.
    var members: [(String, JSONValue)] {
        [
            // First: see number(atStartOf:).
            ("number", .number(number)), ("camera", .text(camera)), ("start", .text(WallTime.text(start))),
            ("startNanoseconds", .number(start)),
            ("cause", .text(cause)), ("asked", .text(WallTime.text(asked))),
            ("length", length.map { .number($0.inSeconds) } ?? .null),
            (
                "gaps",
                .list(
                    gaps.map { gap in
                        .object([
                            (
                                "start",
                                .text(WallTime.text(start.adding(saturating: gap.start.wholeNanoseconds)))
                            ),
                            ("offset", .number(gap.start.inSeconds)), ("length", .number(gap.length.inSeconds)),
                        ])
                    })
            ),
            ("moreGaps", .number(moreGaps)), ("failure", failure.map { .text($0) } ?? .null),
        ]
    }
}
