/// The result of one check.
package struct VerificationFinding: Sendable, Hashable, Codable {
    package enum Outcome: String, Sendable, Hashable, Codable {
        case passed
        case failed
        case notApplicable = "not_applicable"
    }

    /// The name of the check.
    package var check: String
    package var outcome: Outcome
    /// The fault and its remedy, the reason why the check does not apply, or a remark; may be empty.
    package var text: String
    /// The opened URI, without secrets; empty for a check of the plug-in as a whole.
    package var target: String
    /// The duration of the check.
    package var seconds: Double
}

/// The result of verifying a plug-in.
package struct VerificationReport: Sendable, Hashable, Codable {
    /// The path of the manifest.
    package var file: String
    /// The plug-in's name and version; empty if the manifest cannot be read.
    package var name: String
    package var version: String
    /// Whether no check has failed.
    package var passed: Bool
    package var findings: [VerificationFinding]

    init(file: String, name: String, version: String, findings: [VerificationFinding]) {
        self.file = file
        self.name = name
        self.version = version
        self.findings = findings
        passed = !findings.contains { $0.outcome == .failed }
    }
}
