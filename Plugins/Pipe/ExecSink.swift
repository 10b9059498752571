import Glibc
import InletCore
import InletOutput
import InletPrograms
import InletSystem

// Unsafe: passes a list of memory regions to one `writev`.
/// Writes pictures to a program's standard input.
final class ExecSink: FrameSink {
    /// The time that a program has to exit after SIGTERM.
    private static let mercy = Duration.seconds(1)

    private let configuration: ExecSinkConfiguration
    private let subject: String
    private let frameHeader: [UInt8]
    private let packing = PackingBlock()
    private var child: ChildProcess?
    private var size = ImageSize(width: 0, height: 0)
    /// Whether the program's end has been reported already.
    private var hasFailed = false

    init(_ configuration: ExecSinkConfiguration) {
        self.configuration = configuration
        subject = configuration.redactedURI
        frameHeader = configuration.format == .y4m ? Array("FRAME\n".utf8) : []
    }

    /// Neither format states a rotation.
    var wants: SinkWants { SinkWants(rotation: .applied) }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        do throws(InletError) {
            child = try ChildProcess(arguments(for: format))
        } catch {
            var error = error
            if error.code == .notFound { error.message += " Shell syntax needs shell=true." }
            throw error.about(subject)
        }
        size = format.size
        if configuration.format == .y4m { try write(Array(Y4MHeader(format).text.utf8), nil, sequence: nil) }
    }

    func consume(_ frame: VideoFrame) throws {
        guard frame.size == size else {
            throw InletError(
                .unsupported,
                "The picture changed from \(size) to \(frame.size), but the program expects one size. Fix the size with --size \(size).",
                context: .init(subject: subject, sequence: frame.sequence))
        }
        try write(frameHeader, frame.buffer, sequence: frame.sequence)
    }

    func finish() throws {
        guard let child else { return }
        self.child = nil
        child.closeInput()
        // A program that has already timed out gets no more time.
        if let exit = child.wait(for: hasFailed ? .zero : configuration.finish) {
            guard !hasFailed, let error = failure(exit, of: child) else { return }
            throw error
        }
        child.send(SIGTERM)
        if child.wait(for: Self.mercy) == nil {
            child.send(SIGKILL)
            _ = child.wait(for: Self.mercy)
        }
        guard !hasFailed else { return }
        throw InletError(
            .timedOut,
            "The program was still running \(configuration.finish.optionText) after its input had ended, and was terminated. "
                + "Allow more time with finish=, or check why it does not exit.\(lastWords(of: child))",
            context: .init(subject: subject, operation: "waitpid"))
    }

    private func write(_ text: [UInt8], _ picture: I420Buffer?, sequence: UInt64?) throws {
        guard let child else { return }
        do throws(ChildProcess.WriteFailure) {
            try send(text, picture, to: child)
        } catch {
            hasFailed = true
            throw self.error(error, of: child, sequence: sequence)
        }
    }

    private func send(
        _ text: [UInt8], _ picture: I420Buffer?, to child: ChildProcess
    ) throws(ChildProcess.WriteFailure) {
        let limit = configuration.timeout
        let outcome = unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: 4) {
            storage -> Result<Void, ChildProcess.WriteFailure> in
            unsafe text.withUnsafeBytes { text in
                var pieces = unsafe OutputPieces(storage)
                unsafe pieces.append(text)
                let packed = picture.map(packing.pack)
                if let packed {
                    for plane in I420Buffer.Plane.allCases { unsafe pieces.append(packed.bytes(of: plane)) }
                }
                do throws(ChildProcess.WriteFailure) {
                    try child.write(&pieces, within: limit)
                } catch {
                    return .failure(error)
                }
                // The pieces point into these two.
                return withExtendedLifetime((packed, picture)) { .success(()) }
            }
        }
        try outcome.get()
    }

    /// Returns the error for a failed write: ``SinkStopped`` if the program stopped reading and exited with success.
    private func error(_ failure: ChildProcess.WriteFailure, of child: ChildProcess, sequence: UInt64?) -> any Error {
        var error: InletError
        switch failure {
        case .closed:
            guard let exit = child.wait(for: Self.mercy), let ended = self.failure(exit, of: child) else {
                return SinkStopped()
            }
            error = ended
        case .timedOut:
            error = InletError(
                .timedOut,
                "The program read no frame for \(configuration.timeout.optionText). "
                    + "Allow more time with timeout=, or send it fewer frames.\(lastWords(of: child))",
                context: .init(operation: "write"))
        case .system(let number):
            error = InletError(errno: number, operation: "write", path: "to the program")
        }
        error.context.sequence = sequence
        return error.about(subject)
    }

    /// Returns the error for a program that exited by itself; nil if it exited with success.
    private func failure(_ exit: ChildProcess.Exit, of child: ChildProcess) -> InletError? {
        let how: String
        switch exit {
        case .status(0), .unknown: return nil
        case .status(127) where isShell: how = "The shell does not know the command (exit status 127)."
        case .status(let status): how = "The program ended with exit status \(status)."
        case .signal(let signal): how = "The program was terminated by signal \(signal)."
        }
        return InletError(
            .disconnected, how + lastWords(of: child) + shellAdvice,
            context: .init(subject: subject, operation: "waitpid"))
    }

    private func lastWords(of child: ChildProcess) -> String {
        child.tail.text.map { " It said last: \($0)" } ?? ""
    }

    /// The advice for shell syntax that the program got as arguments.
    private var shellAdvice: String {
        guard case .program(let words) = configuration.command else { return "" }
        let signs = words.dropFirst().filter { !$0.contains(byte: " ") }.filter { word in
            ["|", "||", "&&", "&", ";"].contains(word) || word.hasByteSuffix(";")
                || word.utf8.drop { $0.isASCIIDigit || $0 == UInt8(ascii: "&") }.first.map { "<>".utf8.contains($0) }
                    == true
        }
        return signs.isEmpty ? "" : " Shell syntax, such as \(signs[0]), needs shell=true."
    }

    private var isShell: Bool {
        if case .shell = configuration.command { true } else { false }
    }

    private func arguments(for format: VideoFormat) -> [String] {
        switch configuration.command {
        case .shell(let line): return ["/bin/sh", "-c", line]
        case .program(let words):
            let rate = Y4MHeader.rate(of: format)
            let values = [
                "{size}": "\(format.size)", "{width}": "\(format.size.width)", "{height}": "\(format.size.height)",
                "{rate}": "\(rate.numerator)/\(rate.denominator)",
            ]
            return words.map { word in
                values.reduce(word) { text, value in text.replacing(value.key, with: value.value) }
            }
        }
    }
}
