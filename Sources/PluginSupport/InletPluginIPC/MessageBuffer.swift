import CInletPlugin
import Glibc

// Unsafe: owns the memory of a received message.
/// The last received message. It is a copy of the system's: the sender cannot change it any more.
@safe package struct MessageBuffer: ~Copyable {
    private let memory: UnsafeMutableRawBufferPointer
    /// The length of the message in bytes.
    package private(set) var count = 0
    /// The descriptor that arrived with it; -1 without one.
    private var passed: Int32 = -1

    /// Makes an empty buffer for the longest message.
    package init() {
        unsafe memory = .allocate(byteCount: Int(INLET_LONGEST_MESSAGE), alignment: 16)
    }

    deinit {
        if passed >= 0 { close(passed) }
        unsafe memory.deallocate()
    }

    mutating func refill(_ receive: (UnsafeMutableRawBufferPointer, UnsafeMutablePointer<Int32>) -> Int) -> Int {
        if passed >= 0 { close(passed) }
        let received = unsafe receive(memory, &passed)
        count = max(0, received)
        return received
    }

    /// Returns the descriptor that arrived with the message, which the caller closes; -1 without one, or if it was
    /// taken.
    package mutating func takeDescriptor() -> Int32 {
        defer { passed = -1 }
        return passed
    }

    /// The number with which every message begins; 0, which is no message type, if it is too short.
    package var type: UInt32 { read(UInt32.self) ?? 0 }

    /// Reads the struct at the message's start; nil if the message is shorter.
    package func read<Message: BitwiseCopyable>(_ type: Message.Type) -> Message? {
        guard count >= MemoryLayout<Message>.size else { return nil }
        return unsafe memory.loadUnaligned(as: type)
    }

    /// Returns the bytes after the struct at the message's start.
    package func trailer<Message: BitwiseCopyable>(after type: Message.Type) -> [UInt8] {
        guard count > MemoryLayout<Message>.size else { return [] }
        return unsafe Array(memory[MemoryLayout<Message>.size..<count])
    }
}
