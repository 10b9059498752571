import CInletPlugin
import InletCore

extension inlet_demand {
    /// Makes a demand in the form for a plug-in.
    init(_ demand: SourceDemand) {
        self.init()
        size = UInt32(MemoryLayout<inlet_demand>.size)
        wants_pictures = demand.pictures ? 1 : 0
        wants_packets = demand.packets ? 1 : 0
        frame_rate = WireValues.ratio(demand.maximumFrameRate)
        width = UInt32(clamping: demand.largestSize?.width ?? 0)
        height = UInt32(clamping: demand.largestSize?.height ?? 0)
    }
}

extension SourceDemand {
    /// The additional demand for a process of the same executable, as bits.
    var ownFlags: UInt32 { (isLossless ? 1 : 0) | (keyFramesOnly ? 2 : 0) | (hasIdleSinks ? 4 : 0) }

    /// Adopts ``ownFlags``.
    mutating func setOwnFlags(_ flags: UInt32) {
        (isLossless, keyFramesOnly, hasIdleSinks) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0)
    }
}
