import FoundationEssentials
import InletCore
import InletPluginLoader
import InletTesting

/// One verification: runs checks, and collects findings. One thread at a time.
final class VerificationRun {
    let verifier: PluginVerifier
    private let stop: VerificationStop
    private let onFinding: (VerificationFinding) -> Void
    private(set) var findings: [VerificationFinding] = []

    init(_ verifier: PluginVerifier, _ stop: VerificationStop, _ onFinding: @escaping (VerificationFinding) -> Void) {
        self.verifier = verifier
        self.stop = stop
        self.onFinding = onFinding
    }

    /// The number of attempts with a plug-in that was too slow.
    private static let attempts = 3

    func verify(_ examination: PluginExamination) async throws {
        report(
            .manifest,
            examination.manifestProblems.first.map { _ in
                .failed("The manifest cannot be used: " + examination.manifestProblems.joined(separator: "; ") + ".")
            } ?? .passed)
        guard examination.manifest != nil else { return }
        let plugin: DiscoveredPlugin
        do {
            plugin = try examination.plugin.get()
            report(.files, .passed)
        } catch {
            return report(.files, .failed(error.message))
        }
        guard case .library = plugin.program.code else { return try await verifyCommand(plugin) }
        let begin = ContinuousClock.now
        let loaded = try load(plugin)
        report(.load, loaded, since: begin)
        guard loaded.isPassed else { return }
        try await verifyLibrary(plugin)
    }

    // MARK: Findings

    /// The findings of a check.
    enum Verdict {
        case passed, remark(String), failed(String), notApplicable(String)

        var isPassed: Bool {
            switch self {
            case .passed, .remark, .notApplicable: true
            case .failed: false
            }
        }
    }

    /// Records a check's finding, unless the check was not requested. A failure is always reported.
    private func report(
        _ check: VerificationCheck, _ verdict: Verdict, _ target: VerificationTarget? = nil,
        since begin: ContinuousClock.Instant? = nil
    ) {
        guard verifier.checks.contains(check) || !verdict.isPassed else { return }
        let (outcome, text): (VerificationFinding.Outcome, String) =
            switch verdict {
            case .passed: (.passed, "")
            case .remark(let text): (.passed, text)
            case .failed(let text): (.failed, text)
            case .notApplicable(let text): (.notApplicable, text)
            }
        let duration = begin.map { ContinuousClock.now - $0 } ?? .zero
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let finding = VerificationFinding(
            check: check.rawValue, outcome: outcome, text: Redaction.redact(text).sanitized(limit: 2000),
            target: target?.uri ?? "", seconds: (seconds * 1000).rounded() / 1000)
        findings.append(finding)
        onFinding(finding)
    }

    /// Runs a check, if it was requested.
    private func check(
        _ check: VerificationCheck, _ target: VerificationTarget, _ body: () async throws -> Verdict
    ) async throws {
        guard verifier.checks.contains(check) else { return }
        let begin = ContinuousClock.now
        report(check, try await body(), target, since: begin)
    }

    // MARK: Libraries

    private func load(_ plugin: DiscoveredPlugin) throws -> Verdict {
        let interfaces: Set<String>
        do throws(InletError) {
            interfaces = try verifier.discovery.interfaces(of: plugin, within: PluginVerifier.limit)
        } catch {
            guard [.pluginRejected, .timedOut, .disconnected, .permissionDenied].contains(error.code) else {
                throw error
            }
            return .failed(error.message)
        }
        for (id, kind, isDeclared) in [
            ("inlet.source/1", "source", !plugin.manifest.sources.isEmpty),
            ("inlet.sink/1", "sink", !plugin.manifest.sinks.isEmpty),
        ] {
            if isDeclared, !interfaces.contains(id) {
                return .failed(
                    "The manifest declares a \(kind), but the plug-in has no interface \(id). Return one from "
                        + "get_interface, or remove the \(kind) from the manifest.")
            }
            if !isDeclared, interfaces.contains(id) {
                return .failed(
                    "The plug-in has the interface \(id), but the manifest declares no \(kind), so it cannot be used. "
                        + "Declare one, or return null from get_interface.")
            }
        }
        return .passed
    }

    private func verifyLibrary(_ plugin: DiscoveredPlugin) async throws {
        let folder = try Self.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (index, candidates) in try candidates(plugin).enumerated() {
            guard let first = candidates.first?.filled(in: folder) else { continue }
            if index == 0 {
                try await check(.symbols, first) { try self.exercise("symbols", first) }
            }
            for (kind, name) in [(VerificationCheck.interfaces, "interfaces"), (.initialization, "init")] {
                try await check(kind, first) { try self.exercise(name, first) }
            }
            if first.isSink {
                try await verifySink(candidates.map { $0.filled(in: folder) })
            } else {
                try await verifySource(candidates)
            }
        }
    }

    /// Runs an exercise; a late one is repeated, because machines are busy.
    private func exercise(_ name: String, _ target: VerificationTarget) throws -> Verdict {
        var result = try attempt(name, target)
        for _ in 1..<Self.attempts where result.outcome == .late { result = try attempt(name, target) }
        switch result.outcome {
        case .passed: return result.text.isEmpty ? .passed : .remark(result.text)
        case .failed, .late: return .failed(result.text)
        case .notApplicable: return .notApplicable(result.text)
        case .notOpened: return .notApplicable("It could not be opened: \(result.text)")
        }
    }

    private func attempt(_ name: String, _ target: VerificationTarget) throws -> ExerciseResult {
        var result = ExerciseResult(.passed, "")
        for attempt in 0..<Self.attempts {
            let context = try stop.context(limit: PluginVerifier.limit)
            // A device may need a moment after its last user was ended.
            if attempt > 0 { try context.sleep(until: context.clock.now + .seconds(1)) }
            switch target.configuration {
            case .source(let source): result = try source.exercise(name, context)
            case .sink(let sink): result = try sink.exercise(name, context)
            }
            guard result.outcome == .notOpened(.busy) else { break }
        }
        return result
    }

    private func verifySource(_ candidates: [VerificationTarget]) async throws {
        guard let target = try await opened(candidates, .items, try: { try self.attempt("items", $0) }) else {
            return skip(Self.ofSources, after: .items)
        }
        let slow = [target] + OptionTrial.leastValues(of: target.endpoint).map { target.with($0.name, $0.value) }
        for (kind, name) in [(VerificationCheck.cancellation, "cancellation"), (.deadline, "deadline")] {
            try await check(kind, target) {
                var verdict = try self.exercise(name, target)
                for (trial, changed) in zip(OptionTrial.leastValues(of: target.endpoint), slow.dropFirst())
                where verdict.isPassed {
                    let other = try self.exercise(name, changed)
                    if case .failed(let text) = other {
                        verdict = .failed("With \(trial.name)=\(trial.value): \(text)")
                    }
                }
                return verdict
            }
        }
        for kind in [VerificationCheck.pause, .errors, .leaks, .lending, .threads, .output] {
            try await check(kind, target) { try self.exercise(kind.rawValue, target) }
        }
        try await checkOptions(target) { try self.attempt("few-items", $0) }
        try await check(.permissions, target) { try self.permissions(target) }
        try await check(.contract, target) { try await self.contract(target) }
    }

    /// Tries a source without each permission that it has.
    private func permissions(_ target: VerificationTarget) throws -> Verdict {
        guard case .source(let source) = target.configuration else { return .notApplicable("Only for sources.") }
        let asked = source.program.permissions
        var fewer: [(name: String, permissions: PluginPermissions)] = []
        if asked.network { fewer.append(("network", PluginPermissions(devices: asked.devices, files: asked.files))) }
        if asked.devices { fewer.append(("devices", PluginPermissions(network: asked.network, files: asked.files))) }
        if fewer.isEmpty { return .notApplicable("The source requests neither network nor devices.") }
        var idle: [String] = []
        for trial in fewer {
            var changed = source
            changed.program.permissions = trial.permissions
            var other = target
            other.configuration = .source(changed)
            if try attempt("few-items", other).outcome == .passed { idle.append(trial.name) }
        }
        guard !idle.isEmpty else { return .passed }
        return .remark("The source works here without \(idle.joined(separator: ", ")), which another address may need")
    }

    /// The checks of a source that require one that can be opened.
    private static let ofSources: [VerificationCheck] = [
        .cancellation, .deadline, .pause, .errors, .leaks, .lending, .threads, .output, .options, .sizes,
        .permissions, .contract,
    ]

    private func skip(_ checks: [VerificationCheck], after failed: VerificationCheck) {
        for check in checks { report(check, .notApplicable("Not run, because \(failed.rawValue) has not passed.")) }
    }

    private func verifySink(_ candidates: [VerificationTarget]) async throws {
        guard let target = try await opened(candidates, .sink, try: { try self.attempt("sink", $0) }) else {
            return skip([.sinkLeaks], after: .sink)
        }
        try await check(.sinkLeaks, target) { try self.exercise("sink-leaks", target) }
    }

    /// Returns the first candidate that can be opened, after reporting the result.
    private func opened(
        _ candidates: [VerificationTarget], _ check: VerificationCheck,
        try body: (VerificationTarget) throws -> ExerciseResult
    ) async throws -> VerificationTarget? {
        var reasons: [String] = []
        let begin = ContinuousClock.now
        for candidate in candidates {
            var result = try body(candidate)
            for _ in 1..<Self.attempts where result.outcome == .late { result = try body(candidate) }
            switch result.outcome {
            case .notOpened: reasons.append("\(candidate.uri): \(result.text)")
            case .passed:
                report(check, result.text.isEmpty ? .passed : .remark(result.text), candidate, since: begin)
                return candidate
            case .notApplicable:
                report(check, .notApplicable(result.text), candidate, since: begin)
                return nil
            case .failed, .late:
                report(check, .failed(result.text), candidate, since: begin)
                // All other checks would fail with the same sentence.
                return nil
            }
        }
        report(
            check,
            .failed(
                "Nothing could be opened, so most checks cannot run: \(reasons.joined(separator: "; ")) State a URI "
                    + "that works on this machine with --uri."), since: begin)
        return nil
    }

    private func checkOptions(
        _ target: VerificationTarget, try body: (VerificationTarget) throws -> ExerciseResult
    ) async throws {
        for (kind, trials) in [
            (VerificationCheck.options, OptionTrial.values(of: target.endpoint)),
            (.sizes, OptionTrial.sizes(of: target.endpoint)),
        ] {
            try await check(kind, target) {
                if trials.isEmpty {
                    return .notApplicable(
                        kind == .sizes
                            ? "The source has no option of the type size."
                            : "The source has no option with bounds or choices.")
                }
                var refused: [String] = []
                for trial in trials {
                    let words = "\(trial.name)=\(trial.value)"
                    let result = try body(target.with(trial.name, trial.value))
                    switch result.outcome {
                    case .passed, .notApplicable, .late: break
                    case .failed: return .failed("With \(words): \(result.text)")
                    case .notOpened(.invalidConfiguration?) where trial.isPromised:
                        return .failed(
                            "The manifest allows \(words), but the plug-in refuses it: \(result.text) Correct minimum, "
                                + "maximum or choices of the option, or return INLET_ERROR_UNSUPPORTED for what this device "
                                + "cannot do.")
                    case .notOpened: refused.append(words)
                    }
                }
                let tried = "\(trials.count - refused.count) values"
                return .remark(
                    refused.isEmpty ? tried : "\(tried); refused with a reason: \(refused.joined(separator: ", "))")
            }
        }
    }

    /// Whether a packet source may commit a violation: it need not know the size of its pictures, which key frames
    /// state.
    private static func isOfPackets(_ violation: Violation) -> Bool {
        violation.rule == "format" && violation.explanation.hasByteSuffix(" 0x0")
    }

    private func contract(_ target: VerificationTarget) async throws -> Verdict {
        guard case .source(var source) = target.configuration else { return .notApplicable("Only for sources.") }
        source.decoders = verifier.decoders
        var suite = SourceConformance()
        suite.allowsTwoAtOnce = false
        suite.callLimit = .seconds(15)
        var violations: [Violation] = []
        for _ in 0..<2 {
            // A verification that was stopped ends here.
            _ = try stop.context(limit: PluginVerifier.limit)
            violations = await suite.check(source).filter { !Self.isOfPackets($0) }
            if violations.isEmpty { return .passed }
        }
        return .failed(violations.prefix(3).map(\.explanation).joined(separator: "; ") + ".")
    }

    // MARK: Commands

    private func verifyCommand(_ plugin: DiscoveredPlugin) async throws {
        for candidates in try candidates(plugin) {
            guard let first = candidates.first else { continue }
            guard !first.isSink else {
                for check in [VerificationCheck.sink, .sinkLeaks] {
                    report(
                        check,
                        .notApplicable(
                            "The plug-in is a command, but this check calls the functions of a library. Run the sink "
                                + "with inlet run, and check its output."), first)
                }
                continue
            }
            let target = try await opened(candidates, .items) { try self.trial($0) }
            guard let target else {
                skip([.options, .sizes, .contract], after: .items)
                continue
            }
            try await checkOptions(target) { try self.trial($0) }
            try await check(.contract, target) { try await self.contract(target) }
        }
    }

    /// Opens a source as Inlet does, and reads some items.
    private func trial(_ target: VerificationTarget) throws -> ExerciseResult {
        guard case .source(let configuration) = target.configuration else {
            return ExerciseResult(.notApplicable, "Only for sources.")
        }
        let context = try stop.context(limit: PluginVerifier.limit)
        let source = configuration.makePacketSource()
        defer { source.close() }
        do {
            let format = try source.open(context)
            var count = 0
            while count < 5, try source.next(context) != nil { count += 1 }
            return count == 0
                ? ExerciseResult(.notOpened(nil), "the stream ended before its first picture.")
                : ExerciseResult(.passed, "\(count) items, \(format.size) at first")
        } catch let error as InletError {
            if error.code == .cancelled, stop.isStopped { throw error }
            let isOwn = [.pluginRejected, .disconnected, .timedOut].contains(error.code)
            return ExerciseResult(isOwn ? .failed : .notOpened(error.code), error.message)
        }
    }
}
