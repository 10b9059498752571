import InletCore
import InletDecode

/// Reads the packets of a captured session, using the source that would have read them from the network.
final class RTSPCaptureSource: FrameSource {
    private let configuration: RTSPCaptureConfiguration
    private var source: RTSPSource?
    private var replay: CaptureReplay?
    private var pausedAt: MonotonicTime?

    init(_ configuration: RTSPCaptureConfiguration) { self.configuration = configuration }

    func open(_ context: SourceContext) throws -> SourceFormat {
        let file = try CaptureFile(configuration.path)
        let replay = CaptureReplay(file, isPaced: configuration.pace == .realtime, context)
        var session = try RTSPConfiguration(captured: file.header)
        session.damage = configuration.damage
        session.maximumSize = configuration.maximumSize
        let source = RTSPSource(session, replay: replay)
        self.source = source
        self.replay = replay
        var format = try source.open(context)
        format.container = "rtspcap"
        format.pacing = configuration.pace == .realtime ? .realtime : .unpaced
        format.isBroadcast = false
        return format
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        guard let item = try source?.next(context) else { return nil }
        guard case .packet(var packet) = item else { return item }
        packet.receiveTime = packet.receiveTime.flatMap { replay?.time(of: $0) }
        return .packet(packet)
    }

    /// Pauses by not reading further.
    func pause(_ context: SourceContext) -> Bool {
        pausedAt = context.clock.now
        return true
    }

    func resume(_ context: SourceContext) {
        guard let pausedAt else { return }
        replay?.postpone(by: context.clock.now - pausedAt)
        self.pausedAt = nil
    }

    func close() {
        source?.close()
        (source, replay) = (nil, nil)
    }
}
