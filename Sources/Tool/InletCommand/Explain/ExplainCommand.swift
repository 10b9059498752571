import ArgumentParser
import FoundationEssentials
import Inlet

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explains an error code with its causes and remedies, or lists all codes.",
        discussion: """
            Codes appear in reports (--report json), in statistics and in an application's errors. Examples:

              inlet explain
              inlet explain timedOut
              inlet explain --json tlsFailed
            """)

    @Argument(
        help: "An error code, such as timedOut.", completion: .list(ErrorExplanation.all.map(\.code)))
    var code: String?

    @Flag(help: "Print JSON instead of text: one object, or an array of all codes.")
    var json = false

    func run() throws {
        let all = ErrorExplanation.all
        guard let code else {
            guard !json else { return print(try Self.encoded(all)) }
            let width = all.map(\.code.utf8.count).max() ?? 0
            for one in all {
                let space = String(repeating: " ", count: width - one.code.utf8.count)
                let gap = one.exitStatus < 100 ? "  " : " "
                print("\(one.code)\(space)  exit\(gap)\(one.exitStatus)  \(one.meaning)")
            }
            return
        }
        guard let found = all.first(where: { $0.code.lowercasedASCII == code.lowercasedASCII }) else {
            let hint = Spelling.nearest(to: code, among: all.map(\.code)).map { " Did you mean '\($0)'?" } ?? ""
            throw InletError(
                .invalidConfiguration,
                "There is no error code '\(code)'.\(hint) `inlet explain` lists them all.")
        }
        print(json ? try Self.encoded(found) : found.text)
    }

    private static func encoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
