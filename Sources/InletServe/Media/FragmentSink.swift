import InletCore
import InletOutput
import InletFFmpeg
import NIOCore

/// Makes fragments of a camera's packets. Confined to its job's thread.
final class FragmentSink: PacketSink {
    private let publish: (FragmentQueue.Piece) -> Void
    /// The parameters at the beginning.
    private var parameters: CodecParameters?
    /// Other parameter sets, which hold from the next packet on.
    private var changed: CodecParameters?
    private var muxer: FragmentMuxer?
    /// When the fragment that is made begins, and whether with a key frame.
    private var fragment: (start: MonotonicTime, isKey: Bool, times: FragmentTimes)?
    /// The last packet, whose length is known when the next one comes. A guess that is too long would have libavformat
    /// put the next fragment later, and leave out the PTS and the time of day of its first picture.
    private var held: (packet: EncodedPacket, wallClock: Int64)?
    /// When the last packet is decoded.
    private var lastTime: MonotonicTime?
    private var gaps = GapDetector()
    /// The length of a fragment, by which players lag.
    private static let length = Duration.milliseconds(200)

    /// - Parameter publish: called with each piece.
    init(publish: @escaping (FragmentQueue.Piece) -> Void) { self.publish = publish }

    func start(_ parameters: CodecParameters) throws {
        guard muxer != nil else {
            self.parameters = parameters
            return
        }
        // Another beginning belongs to other parameters, and players take one.
        guard let beginning = self.parameters, parameters.continues(beginning) else { throw SinkStopped() }
        changed = parameters
    }

    func write(_ packet: EncodedPacket) throws {
        if muxer == nil {
            guard packet.isKey, let parameters else { throw KeyFrameNeeded() }
            muxer = try FragmentMuxer(parameters)
        }
        // Never backwards, as the muxer writes them.
        let time = max(lastTime ?? .init(nanoseconds: .min), MonotonicTime(nanoseconds: packet.dts.nanoseconds))
        let isGap = gaps.add(time) != nil
        try addHeld(before: isGap ? nil : packet)
        if let fragment, isGap || packet.isKey || packet.captureTime - fragment.start >= Self.length {
            var times = fragment.times
            times.length = (isGap ? lastTime ?? time : time) - times.start
            try flush(fragment.isKey, times)
        }
        if let changed {
            if case .beginning(let bytes)? = muxer?.follow(changed) { publish(.beginning(ByteBuffer(bytes: bytes))) }
            self.changed = nil
        }
        lastTime = time
        let wallClock = WallTime.of(packet)
        fragment =
            fragment
            ?? (
                packet.captureTime, packet.isKey,
                FragmentTimes(start: time, wallClock: wallClock, isByCamera: packet.wallClock != nil)
            )
        held = (packet, wallClock)
    }

    /// - Parameter next: the packet that follows without a gap; nil if there is a gap.
    private func addHeld(before next: EncodedPacket?) throws {
        guard let held else { return }
        self.held = nil
        var packet = held.packet
        if let next, next.dts.timeBase == packet.dts.timeBase {
            let ticks = next.dts.ticks.subtracting(saturating: packet.dts.ticks)
            if ticks > 0 { packet.duration = MediaTime(ticks: ticks, timeBase: packet.dts.timeBase) }
        }
        try muxer?.add(packet, wallClock: held.wallClock)
    }

    private func flush(_ isKey: Bool, _ times: FragmentTimes) throws {
        fragment = nil
        for piece in try muxer?.flush() ?? [] {
            switch piece {
            case .beginning(let bytes): publish(.beginning(ByteBuffer(bytes: bytes)))
            case .fragment(let bytes): publish(.fragment(ByteBuffer(bytes: bytes), isKey: isKey, times))
            }
        }
    }
}
