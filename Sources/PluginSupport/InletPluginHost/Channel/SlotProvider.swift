import CInletPlugin
import Glibc
import InletCore
import InletPluginIPC
import InletSystem

// Unsafe: hands out slots of shared memory.
/// Hands out the slots that Inlet has granted for one picture or packet. Main thread.
@safe final class SlotProvider {
    /// A slot that the plug-in may fill.
    struct Grant {
        let slot: Int
        let format: String
        let width: UInt32
        let height: UInt32
        let layout: PictureLayout
    }

    /// The newest segment; nil before the first.
    private(set) var segment: SharedSegment?
    /// The slots that `get_slot` has handed out in this call of `next`.
    private(set) var grant: Grant?
    private let inbox: MessageInbox
    private var freeSlots: UInt64 = 0
    private var isInNext = false
    private var latest: (format: String, width: UInt32, height: UInt32, layout: PictureLayout)?

    /// The time that Inlet has for a segment.
    private static let patience: Int64 = 5_000_000_000

    init(_ inbox: MessageInbox) { self.inbox = inbox }

    /// Begins a call of `next`, for which Inlet grants these slots of the newest segment.
    func begin(freeSlots: UInt64) {
        self.freeSlots = freeSlots
        grant = nil
        isInNext = true
    }

    /// Ends the call: no slot is handed out any more.
    func end() { isInNext = false }

    /// Returns a slot for a picture.
    ///
    /// - Throws: ``PluginFailure`` as documented for `get_slot` in `inlet_plugin.h`.
    func grant(_ format: String, width: UInt32, height: UInt32) throws(PluginFailure) -> Grant {
        guard isInNext else {
            throw PluginFailure(
                INLET_ERROR_INTERNAL, "get_slot is called outside of next. Call it on the thread of next, within it.")
        }
        guard grant == nil else {
            throw PluginFailure(
                INLET_ERROR_INTERNAL, "get_slot is called twice within next. Use the slot it returned.")
        }
        let layout = try layout(format, width: width, height: height)
        let slot = try slot(holding: layout.length)
        let grant = Grant(slot: slot, format: format, width: width, height: height, layout: layout)
        self.grant = grant
        return grant
    }

    /// Lays out a picture.
    func layout(_ format: String, width: UInt32, height: UInt32) throws(PluginFailure) -> PictureLayout {
        if let latest, latest.format == format, latest.width == width, latest.height == height { return latest.layout }
        guard PictureLayout.knows(format) else {
            throw PluginFailure(
                INLET_ERROR_UNSUPPORTED,
                "The pixel format '\(format)' is not one that Inlet takes from a plug-in. Use FFmpeg's name of a common "
                    + "one, such as nv12, yuv420p or bgra.")
        }
        guard let layout = PictureLayout(format, width: width, height: height) else {
            throw PluginFailure(
                INLET_ERROR_INVALID_CONFIGURATION,
                "A picture of \(width)x\(height) is not possible: each side is 1 to \(PictureLayout.largestSide).")
        }
        latest = (format, width, height, layout)
        return layout
    }

    /// Returns a free slot of at least this length; asks Inlet for longer slots if none is long enough.
    func slot(holding length: Int) throws(PluginFailure) -> Int {
        if let segment, segment.slotLength >= length {
            let free = freeSlots & segment.allSlots
            guard free != 0 else {
                throw PluginFailure(
                    INLET_ERROR_RESOURCE_EXHAUSTED, "All memory for pictures is in use. Let sinks hold fewer pictures.")
            }
            return free.trailingZeroBitCount
        }
        try requestSegment(length)
        return 0
    }

    /// Returns the memory of a slot.
    func memory(of slot: Int) -> UnsafeMutableRawBufferPointer? { unsafe segment?.slot(slot) }

    /// Takes a segment that the newest message brings.
    func adopt(_ message: inlet_segment) throws(PluginFailure) {
        let descriptor = inbox.takeDescriptor()
        defer { if descriptor >= 0 { close(descriptor) } }
        // The former is unmapped first: the address space is limited.
        segment = nil
        let segment = try SharedSegment(message, descriptor: descriptor, isWritten: true)
        self.segment = segment
        freeSlots = segment.allSlots
    }

    private func requestSegment(_ length: Int) throws(PluginFailure) {
        var request = inlet_need_segment()
        request.type = UInt32(INLET_MESSAGE_NEED_SEGMENT)
        let unit = Int(INLET_SLOT_ALIGNMENT)
        request.slot_length = UInt64((length + unit - 1) / unit * unit)
        HostChannel.shared.answer(request)
        let deadline = MonotonicTime.now.nanoseconds + Self.patience
        try adopt(inbox.receiveSegment(until: deadline))
        guard let segment, segment.slotLength >= length else {
            throw PluginFailure(INLET_ERROR_INTERNAL, "Inlet provided shorter slots than requested. Report this.")
        }
    }
}
