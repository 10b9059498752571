import Glibc
import Inlet
import InletOutput
import Synchronization

/// The file of a capture, with a limit on its size.
final class CaptureFileOutput: Sendable {
    private struct State {
        var file: OutputFile
        var size: UInt64 = 0
        var isFull = false
        var onLimit: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>
    private let limit: UInt64

    /// Opens the file, which only this user can read.
    ///
    /// - Throws: ``InletError/Code/busy`` if the file exists and must not be replaced.
    init(_ path: String, limit: UInt64, overwrites: Bool) throws(InletError) {
        self.limit = limit
        do throws(InletError) {
            let file = try OutputFile(
                path: path, takesPipes: false, keepsExisting: !overwrites && path != "-", subject: path)
            state = Mutex(State(file: file))
        } catch {
            if error.context.nativeCode == EEXIST {
                throw InletError(.busy, "The file \(path) already exists. Add --overwrite to replace it.")
            }
            // A missing output folder must not be reported as a missing input.
            throw error.code == .notFound ? InletError(.inputOutput, error.message) : error
        }
    }

    /// The number of bytes written.
    var size: UInt64 { state.withLock { $0.size } }
    /// Whether more data arrived than the file may hold.
    var isFull: Bool { state.withLock { $0.isFull } }

    /// Sets the function to call when the file is full.
    func onLimit(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onLimit = body } }

    /// Writes the next bytes. Once they would exceed the limit, nothing more is written.
    ///
    /// - Returns: the reason for a failure; nil if the bytes were written.
    func write(_ bytes: [UInt8]) -> InletError? {
        let outcome = state.withLock { state -> (error: InletError?, onLimit: (@Sendable () -> Void)?) in
            guard !state.isFull else { return (nil, nil) }
            guard UInt64(bytes.count) <= limit - min(limit, state.size) else {
                state.isFull = true
                return (nil, state.onLimit)
            }
            do {
                try state.file.write(bytes)
                state.size += UInt64(bytes.count)
                return (nil, nil)
            } catch {
                return (InletError(wrapping: error, operation: "write"), nil)
            }
        }
        outcome.onLimit?()
        return outcome.error
    }

    /// Closes the file.
    func finish() throws(InletError) { try state.withLock { state throws(InletError) in try state.file.finish() } }
}
