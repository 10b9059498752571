import InletCore
import InletFFmpeg
import InletOutput
import NIOCore

/// Makes fragments from a camera's packets. Confined to its job's thread.
final class FragmentSink: PacketSink {
    private let publish: (FragmentQueue.Piece) -> Void
    /// The parameters at the beginning of the stream.
    private var parameters: CodecParameters?
    /// New parameter sets, which apply from the next packet on.
    private var changed: CodecParameters?
    private var muxer: FragmentMuxer?
    /// The present fragment: when it begins, and whether it begins with a key frame.
    private var fragment: (start: MonotonicTime, isKey: Bool, times: FragmentTimes)?
    /// The last packet, whose duration is known when the next one arrives. If the duration were estimated too long,
    /// libavformat would move the next fragment later and omit the PTS and the time of day of its first picture.
    private var held: (packet: EncodedPacket, wallClock: Int64)?
    /// The decoding time of the last packet.
    private var lastTime: MonotonicTime?
    private var gaps = GapDetector()
    /// The length of a fragment. Players lag by this time.
    private static let length = Duration.milliseconds(200)

    /// - Parameter publish: called with each piece.
    init(publish: @escaping (FragmentQueue.Piece) -> Void) { self.publish = publish }

    func start(_ parameters: CodecParameters) throws {
        guard muxer != nil else {
            self.parameters = parameters
            return
        }
        // Other parameters need a new initialization section, and players accept only one.
        guard let beginning = self.parameters, parameters.continues(beginning) else { throw SinkStopped() }
        changed = parameters
    }

    func write(_ packet: EncodedPacket) throws {
        if muxer == nil {
            guard packet.isKey, let parameters else { throw KeyFrameNeeded() }
            muxer = try FragmentMuxer(parameters)
        }
        // Times never decrease, as in the muxer's output.
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

    /// - Parameter next: the next packet if it follows without a gap; nil if there is a gap.
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
