import CFFmpeg
import InletCore
import Testing

@testable import FFmpegSource

/// The kinds of inputs, with libavformat's results.
@Suite struct ReadOutcomeTests {
    struct Row: CustomTestStringConvertible {
        var code: Int32
        var byteError: Int32?
        var isAtEnd = false
        /// For a file, a pipe, a live pipe, a file on a server and a live stream.
        var outcomes: [ReadOutcome]
        var testDescription: String { "\(code), bytes \(byteError ?? 0)\(isAtEnd ? ", at the end" : "")" }
    }

    private static let eof = inlet_averror_eof
    private static let invalid = inlet_averror_invaliddata
    private static let kinds: [InputKind] = [.file, .pipe, .livePipe, .networkFile, .liveNetwork]

    static let table: [Row] = [
        Row(code: eof, isAtEnd: true, outcomes: [.end, .end, .fail(eof), .end, .fail(eof)]),
        Row(code: inlet_averror_eagain, outcomes: [.tryAgain, .tryAgain, .tryAgain, .tryAgain, .tryAgain]),
        Row(code: invalid, outcomes: [.skip, .skip, .skip, .skip, .skip]),
        Row(code: invalid, isAtEnd: true, outcomes: [.skip, .skip, .skip, .skip, .skip]),
        Row(
            code: -ENOMEM,
            outcomes: [.fail(-ENOMEM), .fail(-ENOMEM), .fail(-ENOMEM), .fail(-ENOMEM), .fail(-ENOMEM)]),
        // A demuxer's results for truncated data, and in the middle of data.
        Row(code: -EIO, isAtEnd: true, outcomes: [.end, .end, .skip, .fail(-EIO), .fail(-EIO)]),
        Row(code: -EIO, outcomes: [.skip, .skip, .skip, .fail(-EIO), .fail(-EIO)]),
        Row(code: -EINVAL, outcomes: [.skip, .skip, .skip, .fail(-EINVAL), .fail(-EINVAL)]),
        // Read errors that libavformat reports as the end.
        Row(
            code: eof, byteError: -EIO, isAtEnd: true,
            outcomes: [.fail(-EIO), .fail(-EIO), .fail(-EIO), .fail(-EIO), .fail(-EIO)]),
        Row(
            code: eof, byteError: -ESTALE, isAtEnd: true,
            outcomes: [.fail(-ESTALE), .fail(-ESTALE), .fail(-ESTALE), .fail(-ESTALE), .fail(-ESTALE)]),
        Row(
            code: invalid, byteError: -EIO,
            outcomes: [.fail(-EIO), .fail(-EIO), .fail(-EIO), .skip, .skip]),
        Row(
            code: eof, byteError: -ECONNRESET, isAtEnd: true,
            outcomes: [
                .fail(-ECONNRESET), .fail(-ECONNRESET), .fail(-ECONNRESET), .fail(-ECONNRESET), .fail(-ECONNRESET),
            ]),
        Row(
            code: -ECONNRESET,
            outcomes: [.skip, .skip, .skip, .fail(-ECONNRESET), .fail(-ECONNRESET)]),
        Row(
            code: -ETIMEDOUT,
            outcomes: [.skip, .skip, .skip, .fail(-ETIMEDOUT), .fail(-ETIMEDOUT)]),
        Row(
            code: inlet_averror_exit, byteError: inlet_averror_exit, isAtEnd: true,
            outcomes: [
                .fail(inlet_averror_exit), .fail(inlet_averror_exit), .fail(inlet_averror_exit),
                .fail(inlet_averror_exit), .fail(inlet_averror_exit),
            ]),
    ]

    @Test("The meaning of a read without a packet follows from the kind of input", arguments: table)
    func row(_ row: Row) {
        for (kind, outcome) in zip(Self.kinds, row.outcomes) {
            let reading = ReadOutcome.Reading(code: row.code, byteError: row.byteError, isAtEnd: row.isAtEnd)
            #expect(ReadOutcome(reading, of: kind, hasPlayedAll: false) == outcome, "\(kind)")
        }
    }

    @Test("Every kind of input appears in the table")
    func everyKind() { #expect(Set(Self.kinds) == Set(InputKind.allCases)) }

    @Test("A server that has sent a complete recording has ended, and one that was killed has not")
    func hasPlayedAll() {
        let reading = ReadOutcome.Reading(code: Self.eof, isAtEnd: true)
        #expect(ReadOutcome(reading, of: .liveNetwork, hasPlayedAll: true) == .end)
        let broken = ReadOutcome.Reading(code: Self.eof, byteError: -ECONNRESET, isAtEnd: true)
        #expect(ReadOutcome(broken, of: .liveNetwork, hasPlayedAll: true) == .end)
        #expect(ReadOutcome(broken, of: .networkFile, hasPlayedAll: false) == .fail(-ECONNRESET))
    }

    @Test("Unusable data is an error, unless a file or a pipe is over")
    func givingUp() {
        for (kind, endsThere) in zip(Self.kinds, [true, true, false, false, false]) {
            let middle = ReadOutcome(givingUp: ReadOutcome.Reading(code: Self.invalid), of: kind)
            #expect(middle == .fail(Self.invalid), "\(kind)")
            let end = ReadOutcome(givingUp: ReadOutcome.Reading(code: Self.invalid, isAtEnd: true), of: kind)
            #expect(end == (endsThere ? .end : .fail(Self.invalid)), "\(kind)")
        }
    }
}
