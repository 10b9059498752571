import InletCore
import InletOutput
import InletHTTP

/// What is known of a recording besides its pictures, as it stands in the file beside it. A value without I/O.
struct RecordingNote: Sendable, Hashable {
    var camera: String
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

    mutating func add(_ gap: GapDetector.Gap) {
        if gaps.count < Self.mostGaps { gaps.append(gap) } else { moreGaps += 1 }
    }

    /// The members of the note in JSON. Gaps have the time of day at which they begin, and lengths are in seconds.
    var members: [(String, JSONValue)] {
        [
            ("camera", .text(camera)), ("start", .text(WallTime.text(start))), ("startNanoseconds", .number(start)),
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
