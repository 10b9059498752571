import InletCore
import InletRTP
import Testing

/// Pictures of MPEG-2 and MPEG-4 in transport streams. Their bytes are made up: only start codes and types count.
@Suite struct StartCodeTests {
    /// A picture of type 0 (I), 1 (P) or 2 (B).
    static func picture(_ type: Int, isMPEG4: Bool, number: Int) -> [UInt8] {
        let content = (0..<400).map { UInt8(($0 * 7 + number) % 200 + 17) }
        if isMPEG4 {
            let head: [UInt8] = type == 0 ? [0, 0, 1, 0xB0, 1, 0, 0, 1, 0x20, 9, 0, 0, 1, 0xB3, 0, 0x10, 7] : []
            return head + [0, 0, 1, 0xB6, UInt8(type << 6) | 0x10] + content
        }
        let head: [UInt8] = type == 0 ? [0, 0, 1, 0xB3, 0x14, 0, 0xF0, 0x13, 0, 0, 1, 0xB8, 0, 8, 0, 0x40] : []
        var bytes = head + [0, 0, 1, 0, 0, UInt8((type + 1) << 3), 0xFF, 0xF8, 0, 0, 1, 0xB5, 0x81]
        for slice in 1...3 as ClosedRange<UInt8> { bytes += [0, 0, 1, slice] + content }
        return bytes
    }

    static let types = [0, 1, 2, 2, 1, 2, 2, 0, 1, 2, 2, 1]

    static func pictures(isMPEG4: Bool) -> [[UInt8]] {
        types.enumerated().map { picture($1, isMPEG4: isMPEG4, number: $0) }
    }

    static func stream(
        isMPEG4: Bool, isUnaligned: Bool = false, _ change: (inout TransportWriter) -> Void = { _ in }
    ) -> TransportWriter {
        var writer = TransportWriter()
        writer.streamType = isMPEG4 ? 0x10 : 0x02
        change(&writer)
        writer.appendTables()
        var carried: [UInt8] = []
        for (index, bytes) in pictures(isMPEG4: isMPEG4).enumerated() {
            let left = isUnaligned ? 5 : 0
            writer.appendPES(carried + bytes.dropLast(left), time: writer.time(of: index), picture: index)
            carried = bytes.suffix(left)
        }
        if !carried.isEmpty { writer.appendPES(carried, time: nil, picture: types.count - 1) }
        return writer
    }

    @Test("Pictures come out with bytes, times and kinds", arguments: [true, false], [1, 3, 7])
    func pictures(isMPEG4: Bool, count: Int) {
        for size in [TransportWriter.Size.none, .right] {
            for isUnaligned in [true, false] {
                let writer = Self.stream(isMPEG4: isMPEG4, isUnaligned: isUnaligned) { $0.size = size }
                let joiner = Depacketizer(.transportStream)
                let units = joiner.receiveAll(writer.payloads(count))
                #expect(units.map(\.bytes) == Self.pictures(isMPEG4: isMPEG4))
                #expect(units.map { TransportStreamTests.index(of: $0, writer) } == Array(Self.types.indices))
                #expect(units.map(\.isKey) == Self.types.map { $0 == 0 })
                #expect(units.map(\.isReference) == Self.types.map { $0 != 2 })
                let name = isMPEG4 ? "mpeg4" : "mpeg2video"
                #expect(joiner.transportStream == .known(VideoCodec(rawValue: name)))
            }
        }
    }

    @Test("Any cut of the bytes gives the same pictures", arguments: [true, false], 0..<10)
    func cuts(isMPEG4: Bool, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let writer = Self.stream(isMPEG4: isMPEG4)
        let units = Depacketizer(.transportStream).receiveAll(
            writer.pieces { _ in Int.random(in: 1...600, using: &random) })
        #expect(units.map(\.bytes) == Self.pictures(isMPEG4: isMPEG4))
    }

    @Test("A picture is returned with its last packet once that has proven right", arguments: [true, false])
    func eager(isMPEG4: Bool) {
        let writer = Self.stream(isMPEG4: isMPEG4) { $0.size = .none }
        let joiner = Depacketizer(.transportStream)
        var out = 0
        for (index, packet) in writer.payloads(1).enumerated() {
            out += joiner.receive(packet).count
            guard index + 1 < writer.pictures.count, let picture = writer.pictures[index], picture >= 2,
                writer.pictures[index + 1] != picture
            else { continue }
            // Above the largest picture so far the proof is still to come.
            let sizes = Self.pictures(isMPEG4: isMPEG4).map(\.count)
            guard sizes[picture] <= sizes[..<picture].max() ?? 0 else { continue }
            #expect(out == picture + 1)
        }
    }

    @Test("Each lost packet costs its picture, and pictures that may refer to it are marked", arguments: [true, false])
    func losses(isMPEG4: Bool) {
        let writer = Self.stream(isMPEG4: isMPEG4) { $0.size = .none }
        let packets = writer.payloads(1)
        let expected = Self.pictures(isMPEG4: isMPEG4)
        // The first packet of the video is not missed.
        for lost in 3..<packets.count {
            let units = NALLossTests.receive(packets, without: [lost], Depacketizer(.transportStream))
            let indices = units.map { TransportStreamTests.index(of: $0, writer) }
            #expect(units.map(\.bytes) == indices.map { expected[$0] }, "packet \(lost)")
            let picture = writer.pictures[lost] ?? 0
            #expect(indices.count >= Self.types.count - 2 && !indices.contains(picture), "packet \(lost)")
            if picture + 2 < Self.types.count {
                #expect(units.first(where: \.isAfterLoss) != nil, "packet \(lost)")
            }
        }
    }
}
