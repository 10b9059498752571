import Inlet

/// An explanation of one error code for people: its causes, its remedies, and the command's exit status.
///
/// `inlet explain` prints these, and the test `ErrorGuideTests` generates `Docs/guide/trouble.md` from them.
struct ErrorExplanation: Encodable {
    /// Whether the capturer reopens a source that failed with the code.
    enum Retry: String, Encodable {
        /// The source is reopened each time.
        case always
        /// A source is reopened only if it has yielded frames before: it may return unchanged.
        case onceLive = "once-live"
        /// A source is reopened only if it has yielded frames before, at growing intervals.
        case rarelyOnceLive = "rarely-once-live"
        /// The source is not reopened, because it would fail in the same way.
        case never

        init(_ code: InletError.Code) {
            self =
                if code == .authenticationFailed {
                    .rarelyOnceLive
                } else if RetryPolicy.defaultPermanentCodes.contains(code) {
                    .never
                } else if RetryPolicy.permanentUntilLive.contains(code) {
                    .onceLive
                } else {
                    .always
                }
        }

        /// The policy in one sentence for people.
        var sentence: String {
            switch self {
            case .always: "Inlet reopens a source with this error."
            case .onceLive: "Inlet reopens a source with this error if it has worked before, or with --retry."
            case .rarelyOnceLive:
                "Inlet reopens a source with this error, at growing intervals, if it has worked before."
            case .never: "Inlet does not reopen a source with this error."
            }
        }
    }

    /// The code's name, as reports print it.
    var code: String
    /// The meaning of the code, in one sentence.
    var meaning: String
    /// The usual causes, most frequent first.
    var causes: [String]
    /// The remedies, in this order.
    var remedies: [String]
    /// The exit status of `inlet` when a run ends with the code.
    var exitStatus: Int32
    /// The name of the status in sysexits.h.
    var exitName: String
    var retry: Retry

    enum CodingKeys: String, CodingKey {
        case code, meaning, causes, remedies, retry
        case exitStatus = "exit_status"
        case exitName = "exit_name"
    }

    init(_ code: InletError.Code, _ meaning: String, causes: [String], remedies: [String]) {
        let status = ExitStatus(InletError(code, ""))
        self.code = code.description
        self.meaning = meaning
        self.causes = causes
        self.remedies = remedies
        exitStatus = status.rawValue
        exitName = status.name
        retry = Retry(code)
    }

    /// The explanation as several lines for a person.
    var text: String {
        let parts = [
            ["\(code): \(meaning)"],
            ["Usual causes:"] + causes.map { "  - \($0)" },
            ["Try this:"] + remedies.map { "  - \($0)" },
            ["\(retry.sentence)", "Exit status \(exitStatus) (\(exitName))."],
        ]
        return parts.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    /// Returns the line for standard error that points from an error to its explanation. The line is empty if the
    /// message suffices: for a wrong option it names the right ones, and a cancellation was requested.
    static func hint(for code: String) -> String {
        let needsNone = [InletError.Code.invalidConfiguration, .cancelled].map(\.description)
        guard !needsNone.contains(code), all.contains(where: { $0.code == code }) else { return "" }
        return "For causes and remedies: inlet explain \(code)\n"
    }
}
