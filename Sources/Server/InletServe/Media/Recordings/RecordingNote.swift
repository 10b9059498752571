import InletCore
import InletHTTPServer
import InletOutput

/// The metadata of a recording, as stored in the file next to it. A value without I/O.
struct RecordingNote: Sendable, Hashable {
    var camera: String
    /// The recording's position among all recordings of the camera.
    var number: Int64
    /// The time of day of the first picture, in nanoseconds since 1970.
    var start: Int64
    /// The cause of the recording: `api`, or the kind of an event.
    var cause: String
    /// The time of the request, in nanoseconds since 1970.
    var asked: Int64
    /// The length up to the last picture; nil while the recording is being written, or if the daemon was killed
    /// meanwhile.
    var length: Duration?
    var gaps: [GapDetector.Gap] = []
    /// The number of further gaps that are not listed.
    var moreGaps = 0
    /// The reason why the recording ended early; nil if it did not.
    var failure: String?

    /// The maximum number of gaps that are listed.
    static let mostGaps = 1000
    /// The maximum number of bytes of a note. A gap takes about 80 bytes.
    static let longest = 131_072

    /// The bytes at the start of a note that hold its number.
    static let numberLength = 64

    /// Returns the number in the first bytes of a note; nil if it has no number. This avoids reading a long note as a
    /// whole.
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

    /// The members of the note in JSON. A gap has the time of day at which it begins. Lengths are in seconds.
    var members: [(String, JSONValue)] {
        [
            // The number is first, for `number(atStartOf:)`.
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
