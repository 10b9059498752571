import Inlet

/// What one error code means to a person: its causes, what to try, and what the command makes of it.
///
/// `inlet explain` prints these, and `Docs/guide/trouble.md` is written from them by the test `ErrorGuideTests`.
struct ErrorExplanation: Encodable {
    /// Whether the capturer opens a source again that failed with the code.
    enum Retry: String, Encodable {
        /// Each time.
        case always
        /// Only a source that has yielded frames before: it may come back as it was.
        case onceLive = "once-live"
        /// The same would happen again.
        case never

        init(_ code: InletError.Code) {
            self =
                if RetryPolicy.defaultPermanentCodes.contains(code) {
                    .never
                } else if RetryPolicy.permanentUntilLive.contains(code) {
                    .onceLive
                } else {
                    .always
                }
        }

        /// One sentence for people.
        var sentence: String {
            switch self {
            case .always: "A source that fails so is opened again."
            case .onceLive: "A source that fails so is opened again if it has yielded frames before."
            case .never: "A source that fails so is not opened again."
            }
        }
    }

    /// The code's name, as reports print it.
    var code: String
    /// One sentence.
    var meaning: String
    /// What usually leads to it, most frequent first.
    var causes: [String]
    /// What to try, in this order.
    var remedies: [String]
    /// What `inlet` exits with when a run ends with the code.
    var exitStatus: Int32
    /// The name that sysexits.h has for it.
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

    /// Several lines for a person.
    var text: String {
        let parts = [
            ["\(code): \(meaning)"],
            ["Usual causes:"] + causes.map { "  - \($0)" },
            ["What to try:"] + remedies.map { "  - \($0)" },
            ["\(retry.sentence)", "Exit status \(exitStatus) (\(exitName))."],
        ]
        return parts.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    /// The line of standard error that leads from an error to its explanation, or nothing where the message says all:
    /// of a wrong option it names the right ones, and a cancellation was asked for.
    static func hint(for code: String) -> String {
        let needsNone = [InletError.Code.invalidConfiguration, .cancelled].map(\.description)
        guard !needsNone.contains(code), all.contains(where: { $0.code == code }) else { return "" }
        return "For causes and remedies: inlet explain \(code)\n"
    }
}
