import CInletPlugin
import Glibc
import InletPluginIPC
import Synchronization

// Unsafe: writes to the descriptor of a wake-up.
/// Takes Inlet's messages, one after the other, on the main thread.
final class MessageInbox {
    /// The message that was received last.
    private(set) var message = MessageBuffer()
    /// Becomes readable when the instance is cancelled; -1 before there is one.
    private(set) var wakeDescriptor: Int32 = -1
    /// Whether Inlet has asked for the end while the plug-in was being called.
    private(set) var isClosing = false

    /// The descriptor of ``wakeDescriptor``, for the watchdog.
    private static let wake = Atomic<Int32>(-1)

    /// Waits for the next message. Ends the process, after `onEnd`, when Inlet is gone.
    func receive(onEnd: () -> Void = {}) {
        while true {
            do throws(MessageSocket.ReceiveFailure) {
                return try HostChannel.shared.socket.receive(into: &message)
            } catch {
                guard case .empty = error else {
                    onEnd()
                    exit(ExitCode.gone)
                }
                Descriptors.wait(for: [HostChannel.shared.socket.descriptor], Int16(POLLIN), until: .max)
            }
        }
    }

    /// Waits, while the plug-in is being called, for a segment, and no longer than the given time of
    /// `CLOCK_MONOTONIC`.
    func receiveSegment(until deadline: Int64) throws(PluginFailure) -> inlet_segment {
        while true {
            do throws(MessageSocket.ReceiveFailure) {
                try HostChannel.shared.socket.receive(into: &message)
            } catch {
                guard case .empty = error else { throw Self.cancelled }
                let states = Descriptors.wait(
                    for: [HostChannel.shared.socket.descriptor, wakeDescriptor], Int16(POLLIN), until: deadline)
                if states[1] != 0 { throw Self.cancelled }
                if states[0] == 0, Descriptors.hasPassed(deadline) {
                    throw PluginFailure(INLET_ERROR_TIMED_OUT, "Inlet provided no memory for a picture in time.")
                }
                continue
            }
            if message.type == UInt32(INLET_MESSAGE_SEGMENT), let segment = message.read(inlet_segment.self) {
                return segment
            }
            isClosing = true
            throw Self.cancelled
        }
    }

    /// Takes the descriptor that came with `inlet_create`.
    func takeWakeDescriptor() {
        wakeDescriptor = message.takeDescriptor()
        Self.wake.store(wakeDescriptor, ordering: .releasing)
    }

    /// Takes the descriptor that came with `inlet_segment`, which the caller closes.
    func takeDescriptor() -> Int32 { message.takeDescriptor() }

    /// Makes the wake descriptor readable. Safe from any thread.
    static func raiseWake() {
        let descriptor = wake.load(ordering: .acquiring)
        var one: UInt64 = 1
        if descriptor >= 0 { _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size) }
    }

    private static let cancelled = PluginFailure(INLET_ERROR_CANCELLED, "The operation was cancelled.")
}
