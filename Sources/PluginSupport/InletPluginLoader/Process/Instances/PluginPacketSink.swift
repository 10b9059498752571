import CInletPlugin
import InletCore

/// A sink of a plug-in that takes packets.
final class PluginPacketSink: PacketSink {
    private let configuration: PluginSinkConfiguration
    private var instance: (any SinkInstance)?
    private var parameters: CodecParameters?
    private var count: UInt64 = 0
    private(set) var wantsKeyFrame = false

    /// The most bytes of parameter sets in a message.
    private static let mostParameterSets = 65_536

    init(_ configuration: PluginSinkConfiguration) { self.configuration = configuration }

    func start(_ parameters: CodecParameters) throws {
        let name = configuration.program.name
        guard parameters.extraData.count <= Self.mostParameterSets else {
            throw InletError(.unsupported, "The stream has more parameter sets than the plug-in \(name) can be given.")
        }
        let isFirst = instance == nil
        let instance = try self.instance ?? configuration.makeInstance()
        do {
            guard instance.wants.packets != 0 else {
                throw InletError(.unsupported, "The plug-in \(name) takes pictures, not packets.")
            }
            try instance.start(
                CheckedStream.wire(
                    size: parameters.size, timeBase: parameters.timeBase, frameRate: parameters.frameRate,
                    aspectRatio: parameters.sampleAspectRatio, color: parameters.colorSpace,
                    rotation: parameters.rotation, codec: parameters.codec.rawValue,
                    reorderDepth: parameters.reorderDepth, parameterSetsLength: parameters.extraData.count),
                parameterSets: parameters.extraData)
        } catch {
            // After a first start that failed, `finish` is not called.
            if isFirst { try? instance.finish() }
            throw error
        }
        self.instance = instance
        self.parameters = parameters
    }

    func write(_ packet: EncodedPacket) throws {
        guard let instance, let parameters else { throw SinkStopped() }
        let goesOn = try instance.consume(SinkItem(packet, sequence: count, parameters))
        count += 1
        if packet.isKey { wantsKeyFrame = false }
        if instance.takeKeyFrameRequest() { wantsKeyFrame = true }
        guard goesOn else { throw SinkStopped() }
    }

    func finish() throws {
        defer { instance = nil }
        try instance?.finish()
    }
}
