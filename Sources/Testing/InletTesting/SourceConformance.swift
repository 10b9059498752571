public import InletCore

/// Checks a source plug-in against the contract of ``FrameSource``, for any author and with any test framework:
///
///     #expect(await SourceConformance.check(MyConfiguration()) == [])
///
/// The source really runs, on a separate thread and by the machine's clock. Use one that yields a frame at least every
/// second.
public struct SourceConformance: Sendable {
    /// The number of frames to check. The default is 10. Fewer are accepted if the stream ends first, but at least one
    /// is required.
    public var frames = 10
    /// Whether two sources of one configuration must yield the same pictures at the same times. The default is false.
    public var isDeterministic = false
    /// Whether a second source may run while the first does, which a camera may not allow. The default is true.
    public var allowsTwoAtOnce = true
    /// The maximum duration of a call after a cancellation. The default is the contract's 100 ms. The best of
    /// ``attempts`` counts, so that a loaded machine breaks no rule.
    public var cancellationLimit: Duration = .milliseconds(100)
    /// The number of attempts at a cancellation. The default is 5.
    public var attempts = 5
    /// The time after which a call counts as hung. The default is 20 seconds.
    public var callLimit: Duration = .seconds(20)

    public init() {}

    /// Runs all checks with the defaults.
    ///
    /// - Returns: the rules that were broken; empty for a source that keeps the contract.
    public static func check(_ configuration: any FrameSourceConfiguration) async -> [Violation] {
        await SourceConformance().check(configuration)
    }

    /// Runs all checks.
    ///
    /// - Returns: the rules that were broken; empty for a source that keeps the contract.
    public func check(_ configuration: any FrameSourceConfiguration) async -> [Violation] {
        var violations: [Violation] = []
        guard let first = await record(configuration, into: &violations) else { return violations }
        await checkCancellationBeforeOpen(configuration, &violations)
        await checkCancellationWhileRunning(configuration, &violations)
        if allowsTwoAtOnce { await checkTwoAtOnce(configuration, &violations) }
        var repeated: [Violation] = []
        guard let second = await record(configuration, into: &repeated) else {
            let reason = repeated.first.map { ": \($0.explanation)" } ?? ""
            violations.append(Violation("independence", "a second source of the same configuration fails\(reason)"))
            return violations
        }
        if first.format.hasPackets { await checkPackets(configuration, &violations) }
        if second.firstSequence != first.firstSequence || second.format.timeBase != first.format.timeBase {
            violations.append(
                Violation("independence", "a second source of the same configuration continues where the first ended"))
        }
        if isDeterministic, first.facts != second.facts {
            violations.append(
                Violation("determinism", "two sources of the same configuration yield different frames or times"))
        }
        return violations
    }

    /// The record of one run of a source.
    private struct Recording {
        var format: SourceFormat
        var facts: [Fact] = []
        var firstSequence: UInt64? { facts.first?.sequence }
    }

    private struct Fact: Equatable {
        let sequence: UInt64
        let pts: MediaTime?
        let size: ImageSize
        let checksum: UInt64
    }

    /// Opens a source, reads its first frames and closes it, and checks all of these.
    ///
    /// - Returns: the record, or nil if there was no frame to check.
    private func record(
        _ configuration: any FrameSourceConfiguration, into violations: inout [Violation]
    ) async -> Recording? {
        let runner = SourceRunner(configuration, limit: callLimit)
        guard let format = await open(runner, &violations) else {
            _ = await runner.close()
            await finish(runner, owners: [], &violations)
            return nil
        }
        var rules = FrameRules(format: format)
        var recording = Recording(format: format)
        var owners: [WeakReference] = []
        var last: (frame: SourceFrame, checksum: UInt64)?
        reading: for index in 0..<max(1, frames) {
            switch await runner.next() {
            case .hung:
                violations.append(Violation("progress", "next did not return within \(callLimit)"))
                return nil
            case .threw(let error, let typed):
                violations.append(Violation("frames", "next threw at frame \(index): \(error)"))
                if !typed {
                    violations.append(
                        Violation("typedErrors", "next threw an error other than an InletError: \(error)"))
                }
                break reading
            case .returned(nil):
                if index == 0 { violations.append(Violation("frames", "the stream ended before its first frame")) }
                break reading
            case .returned(.packet?):
                violations.append(Violation("demand", "next yielded a packet although no sink takes packets"))
                break reading
            case .returned(.frame(let frame)?):
                let broken = rules.check(frame)
                violations += broken
                guard NativePicture.defect(of: frame) == nil else { break reading }
                let checksum = NativePicture.checksum(of: frame)
                recording.facts.append(
                    Fact(sequence: frame.sequence, pts: frame.pts, size: frame.size, checksum: checksum))
                owners.append(WeakReference(frame.owner))
                last = (frame, checksum)
            }
        }
        await closeKeeping(last, runner, &violations)
        last = nil
        await finish(runner, owners: owners, &violations)
        return recording.facts.isEmpty ? nil : recording
    }

    private func open(_ runner: SourceRunner, _ violations: inout [Violation]) async -> SourceFormat? {
        switch await runner.open() {
        case .hung:
            violations.append(Violation("opens", "open did not return within \(callLimit)"))
            return nil
        case .threw(let error, let typed):
            violations.append(Violation("opens", "open threw: \(error)"))
            if !typed {
                violations.append(Violation("typedErrors", "open threw an error other than an InletError: \(error)"))
            }
            return nil
        case .returned(let format):
            // A compressed stream that is joined in its middle states its size with its first picture. A source of raw
            // pixels knows it.
            let isCompressedLive = format.pacing == .live && format.codec != nil
            let mayBeUnknown = isCompressedLive && format.size == ImageSize(width: 0, height: 0)
            if !format.size.isValid && !mayBeUnknown {
                violations.append(Violation("format", "the format has a size of \(format.size)"))
            }
            if format.timeBase <= Rational(0) {
                violations.append(Violation("format", "the format has a time base of \(format.timeBase)"))
                return nil
            }
            if let rate = format.frameRate, rate <= Rational(0) {
                violations.append(
                    Violation("format", "the format has a frame rate of \(rate); use nil if it is unknown"))
            }
            return format
        }
    }

    /// Closes the source while a frame of it is held, and reads that frame again.
    private func closeKeeping(
        _ last: (frame: SourceFrame, checksum: UInt64)?, _ runner: SourceRunner, _ violations: inout [Violation]
    ) async {
        guard case .returned = await runner.close() else {
            violations.append(Violation("close", "close did not return within \(callLimit)"))
            return
        }
        if let last, NativePicture.checksum(of: last.frame) != last.checksum {
            violations.append(Violation("ownership", "a frame that was held changed when its source was closed"))
        }
    }

    /// Releases a closed source and checks that it and its memory are deallocated.
    private func finish(_ runner: SourceRunner, owners: [WeakReference], _ violations: inout [Violation]) async {
        guard let source = await runner.release() else { return }
        if await !source.ends(within: .seconds(2)) {
            violations.append(Violation("release", "the source is still referenced after close"))
        }
        for owner in owners where await !owner.ends(within: .seconds(2)) {
            violations.append(Violation("release", "the memory of a frame outlives the frame and its source"))
            break
        }
    }
}
