import ArgumentParser
import Inlet
import InletPluginVerify

/// Verifies a plug-in.
struct VerifyPluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks that a plug-in keeps its contract and matches its manifest.",
        discussion: """
            Everything runs in child processes, in the sandbox: a plug-in that crashes, hangs or leaks does no harm \
            here. A source takes about 20 seconds; each call of a check takes at most 30 seconds. Examples:

              inlet plugins verify acme.so
              inlet plugins verify acme.inlet.json --uri 'acme:192.168.0.10?rate=30'
              inlet plugins verify acme --check leaks --json

            The exit code is 0 if no check has failed, 1 if one has, and otherwise as in inlet --help.
            """)

    @Argument(
        help: ArgumentHelp(
            "The plug-in: the path of its library or manifest, or the name of one that is installed.",
            valueName: "plugin"), completion: .file())
    var plugin: String?

    @Option(
        help: ArgumentHelp(
            """
            The URI to open. May be given several times. The default is the bare scheme, or else the first example \
            of the manifest that can be opened, without options that name files. A file that a URI names for a \
            sink is overwritten many times.
            """, valueName: "uri"))
    var uri: [String] = []

    @Option(
        help: ArgumentHelp("Run only this check. May be given several times.", valueName: "name"),
        completion: .list(VerificationCheck.allCases.map(\.rawValue)), transform: Self.check)
    var check: [VerificationCheck] = []

    @Flag(help: "Print the names of all checks, and the question that each answers.")
    var list = false

    @Flag(help: "Print one JSON object at the end instead of text.")
    var json = false

    @OptionGroup(title: "Installed plug-ins")
    var installed: InstalledPluginOptions

    private static func check(_ word: String) throws -> VerificationCheck {
        guard let check = VerificationCheck(rawValue: word) else {
            let known = VerificationCheck.allCases.map(\.rawValue)
            let hint = Spelling.nearest(to: word, among: known).map { " Did you mean '\($0)'?" } ?? ""
            throw ValidationError("There is no check '\(word)'.\(hint) See --list.")
        }
        return check
    }

    func validate() throws {
        guard list || plugin != nil else { throw ValidationError("Name a plug-in, or use --list.") }
        guard installed.inProcess.isEmpty else {
            throw ValidationError("A plug-in is verified in separate processes. Remove --in-process.")
        }
        guard installed.updates == .automatic else {
            throw ValidationError("The verification does not look for new versions. Remove --plugin-updates.")
        }
    }

    func run() async throws {
        if list {
            for check in VerificationCheck.allCases {
                Terminal.writeOutput("\(check.rawValue.padded(to: 13)) \(check.summary)\n")
            }
            return
        }
        var verifier = PluginVerifier()
        verifier.discovery = installed.discovery
        verifier.uris = uri
        // These URIs come from the user of the command, not from the examples of the manifest.
        verifier.localAccess = .system
        if !check.isEmpty { verifier.checks = Set(check) }
        verifier.decoders = InletTool.registry.decoders
        let stop = VerificationStop()
        let interrupt = Interrupt { stop.stop() }
        defer { withExtendedLifetime(interrupt) {} }
        let isJSON = json
        let report = try await verifier.run(plugin ?? "", stop: stop) { finding in
            if !isJSON { Self.show(finding) }
        }
        if isJSON {
            Terminal.writeOutput(try PluginsCommand.json(report) + "\n")
        } else {
            let failed = report.findings.count { $0.outcome == .failed }
            let passed = report.findings.count { $0.outcome == .passed }
            let outcome = failed == 0 ? "\(passed) checks passed" : "\(failed) failed"
            Terminal.writeOutput("\(report.name): \(outcome)\n")
        }
        if !report.passed { throw ExitCode(1) }
    }

    private static func show(_ finding: VerificationFinding) {
        let word =
            switch finding.outcome {
            case .passed: "ok"
            case .failed: "FAILED"
            case .notApplicable: "-"
            }
        let time = finding.seconds >= 0.05 ? "\(finding.seconds.shortText) s" : ""
        let remark = finding.outcome == .failed ? finding.target : finding.text
        var line = "\(word.padded(to: 6)) \(finding.check.padded(to: 13)) \(time.padded(to: 8)) \(remark)"
        while line.hasByteSuffix(" ") { line.removeLast() }
        if finding.outcome == .failed { line += "\n       \(finding.text)" }
        // Written immediately, also to a file or pipe, while the next check runs.
        Terminal.writeOutput(line + "\n")
    }
}
