import ArgumentParser
import Inlet

#if os(Linux)
    import InletPluginVerify

    /// Verifies a plug-in.
    struct VerifyPluginCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Checks that a plug-in keeps its contract and does what its manifest says.",
            discussion: """
                Everything runs in child processes, in the sandbox: a plug-in that crashes, hangs or leaks does no harm \
                here. It takes some 20 seconds for a source, and at most 30 seconds for each call of a check. Examples:

                  inlet plugins verify acme.so
                  inlet plugins verify acme.inlet.json --uri 'acme:192.168.0.10?rate=30'
                  inlet plugins verify acme --check leaks --json

                The exit code is 0 if no check has failed, 1 if one has, and else as in inlet --help.
                """)

        @Argument(
            help: ArgumentHelp(
                "The plug-in: the path of its library or manifest, or the name of one that is installed.",
                valueName: "plugin"))
        var plugin: String?

        @Option(
            help: ArgumentHelp(
                """
                What to open. May be given several times. The default is the scheme alone, or else the first example of \
                the manifest that can be opened, without options that name files. A file that a URI names for a sink \
                is overwritten many times.
                """, valueName: "uri"))
        var uri: [String] = []

        @Option(
            help: ArgumentHelp("Run this check alone. May be given several times.", valueName: "name"),
            transform: Self.check)
        var check: [VerificationCheck] = []

        @Flag(help: "Print the names of all checks, and what they find out.")
        var list = false

        @Flag(help: "One JSON object at the end instead of lines for people.")
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
                throw ValidationError("A plug-in is verified in processes of its own. Leave out --in-process.")
            }
            guard installed.updates == .automatic else {
                throw ValidationError("No new version is looked for here. Leave out --plugin-updates.")
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
            // These come from the user of the command, and not from the examples of the manifest.
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
            // Written at once, to a file or pipe as well, while the next check runs.
            Terminal.writeOutput(line + "\n")
        }
    }
#endif
