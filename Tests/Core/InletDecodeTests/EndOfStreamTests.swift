import InletCore
import InletTesting
import Logging
import ReferenceTools
import Testing

@testable import InletDecode

/// The end of a stream whose last pictures are damaged.
@Suite struct EndOfStreamTests {
    private static let parameters = CodecParameters(
        codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 25))

    /// A key frame and nine other packets of a live stream.
    private final class Source: FrameSource {
        private var next: Int64 = 0

        func open(_ context: SourceContext) throws -> SourceFormat {
            SourceFormat(packets: parameters, pacing: .live)
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            guard next < 10 else { return nil }
            let time = MediaTime(ticks: next, timeBase: parameters.timeBase)
            next += 1
            return .packet(
                SourcePacket(
                    parameters: parameters, data: PacketData([0]), pts: time, dts: time, flags: next == 1 ? .key : []))
        }

        func close() {}
    }

    /// The output of a decoder instead of its penultimate picture.
    enum Fault: CaseIterable, Sendable {
        case damagedPicture, undecodable
    }

    /// Outputs its last three pictures once no packets follow, and a fault among them.
    private final class Decoder: VideoDecoder {
        private let decoder = DelayingDecoder(parameters.size, delay: 3, reorderDepth: 3)
        private let fault: Fault
        /// The number of calls while it had nothing.
        private var requests = 0
        let reorderDepth = 3
        var skipsNonReferencePictures = false

        init(_ fault: Fault) { self.fault = fault }

        func open(_ parameters: CodecParameters, _ settings: DecoderSettings) throws {}

        func send(_ packet: SourcePacket) throws -> PacketFault? {
            requests = 0
            return try decoder.send(packet)
        }

        func receive() throws -> DecoderOutput {
            let output = try decoder.receive()
            guard case .picture(var picture) = output else {
                requests += 1
                guard requests < 100 else { throw InletError(.internal, "Asked again and again after the end.") }
                return output
            }
            guard picture.pts?.ticks == 8 else { return output }
            switch fault {
            case .damagedPicture:
                picture.flags.insert(.corrupt)
                return .picture(picture)
            case .undecodable: return .undecodable(.malformed)
            }
        }

        func drain() { decoder.drain() }
        func reset() { decoder.reset() }
    }

    @Test("A live stream ends although a loss among its last pictures resets the decoder", arguments: Fault.allCases)
    func lossAtEnd(fault: Fault) throws {
        let context = SourceContext(clock: ManualClock(), logger: Logger(label: "test"))
        let source = DecodingSource(
            Source(), DecodingSettings([DecoderPlugin("plain", summary: "") { Decoder(fault) }]))
        _ = try source.open(context)
        var times: [Int64] = []
        while case .frame(let frame)? = try source.next(context) { try times.append(#require(frame.pts).ticks) }
        #expect(times == Array(0..<8))
        source.close()
    }
}
