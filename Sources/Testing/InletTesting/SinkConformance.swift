public import InletCore

/// Checks a sink plug-in against the contract of ``FrameSink``, for any author and with any test framework:
///
///     #expect(await SinkConformance.check { MyConfiguration(path: freshPath()) } == [])
///
/// The sink gets real pictures in pooled memory, on a separate thread, and its output stays where the configuration
/// puts it.
public struct SinkConformance: Sendable {
    /// The number of frames that a sink gets. The default is 12.
    public var frames = 12
    /// The maximum number of pictures that it may hold after `consume` has returned. The default is 0: it copies what
    /// it needs.
    public var retainedFrames = 0
    /// The size of the pictures. The default is 63x49: odd, so that rows end in the middle of a chroma sample.
    public var size = ImageSize(width: 63, height: 49)
    /// A configuration whose output cannot be opened; its sink must report that with an ``InletError``. The default is
    /// nil, for none.
    public var unusable: (any FrameSinkConfiguration)?
    /// The time after which a call counts as hung. The default is 20 seconds.
    public var callLimit: Duration = .seconds(20)

    public init() {}

    /// Runs all checks with the defaults.
    public static func check(
        _ makeConfiguration: @escaping @Sendable () throws -> any FrameSinkConfiguration
    ) async rethrows -> [Violation] {
        try await SinkConformance().check(makeConfiguration)
    }

    /// Runs all checks.
    ///
    /// - Parameter makeConfiguration: called once for each sink; two may run at the same time, so give each a separate
    ///   output.
    /// - Returns: the rules that were broken; empty for a sink that keeps the contract.
    public func check(
        _ makeConfiguration: @escaping @Sendable () throws -> any FrameSinkConfiguration
    ) async rethrows -> [Violation] {
        var violations: [Violation] = []
        let whole = SinkRunner(try makeConfiguration(), self)
        let other = SinkRunner(try makeConfiguration(), self)
        if await whole.start("start", &violations) {
            // A second sink runs in between: the two must share nothing.
            let otherStarted = await other.start("independence", &violations)
            for index in 0..<frames {
                guard await whole.consume(index, "frames", &violations) else { break }
                if otherStarted, index == 0 { _ = await other.consume(0, "independence", &violations) }
            }
            await whole.checkRetention(&violations)
            await whole.finish("finish", &violations)
            if otherStarted { await other.finish("independence", &violations) }
        }
        let empty = SinkRunner(try makeConfiguration(), self)
        if await empty.start("start", &violations) { await empty.finish("finishWithoutFrames", &violations) }

        await checkSizeChange(SinkRunner(try makeConfiguration(), self), &violations)
        if let unusable { await checkUnusable(SinkRunner(unusable, self), &violations) }
        return violations
    }

    /// Checks that a picture of another size is accepted, or refused with a typed error; the sink finishes either way.
    private func checkSizeChange(_ runner: SinkRunner, _ violations: inout [Violation]) async {
        guard await runner.start("start", &violations), await runner.consume(0, "sizeChange", &violations) else {
            return
        }
        let larger = ImageSize(width: 2 * size.width, height: 2 * size.height)
        switch await runner.tryConsume(1, size: larger) {
        case .done, .stopped: break
        case .hung: violations.append(Violation("sizeChange", "consume did not return within \(callLimit)"))
        case .threw(let text, code: nil):
            violations.append(
                Violation("sizeChange", "a change of size threw an error other than an InletError: \(text)"))
        case .threw(let text, code: let code?):
            if code != .unsupported {
                violations.append(Violation("sizeChange", "a change of size threw \(code), not unsupported: \(text)"))
            }
        }
        await runner.finish("sizeChange", &violations)
    }

    private func checkUnusable(_ runner: SinkRunner, _ violations: inout [Violation]) async {
        switch await runner.tryStart() {
        case .threw(let text, code: nil):
            violations.append(
                Violation("typedErrors", "start on an unusable output threw an error other than an InletError: \(text)")
            )
        case .threw(let text, code: .internal?):
            violations.append(Violation("typedErrors", "start on an unusable output threw an internal error: \(text)"))
        case .threw: break
        case .done, .stopped:
            violations.append(Violation("typedErrors", "start on an unusable output did not throw"))
            await runner.finish("typedErrors", &violations)
        case .hung: violations.append(Violation("typedErrors", "start did not return within \(callLimit)"))
        }
    }
}
