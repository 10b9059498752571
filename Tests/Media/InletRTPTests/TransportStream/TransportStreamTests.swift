import InletCore
import InletRTP
import Testing

/// Transport streams of clips whose bytes are known.
@Suite struct TransportStreamTests {
    static func writer(_ clip: CodedClip = .h264, _ change: (inout TransportWriter) -> Void = { _ in })
        -> TransportWriter
    {
        var writer = TransportWriter()
        writer.streamType = clip.isHEVC ? 0x24 : 0x1B
        change(&writer)
        return writer
    }

    static func stream(_ clip: CodedClip = .h264, _ change: (inout TransportWriter) -> Void = { _ in })
        -> TransportWriter
    {
        var writer = writer(clip, change)
        writer.appendTables()
        writer.append(clip)
        return writer
    }

    /// The pictures as they are in the stream.
    static func expected(_ writer: TransportWriter, _ clip: CodedClip) -> [[UInt8]] {
        clip.pictures.map { writer.bytes(clip, $0) }
    }

    static func index(of unit: AccessUnit, _ writer: TransportWriter) -> Int {
        Int((unit.timestamp &- UInt32(truncatingIfNeeded: writer.start)) / UInt32(writer.interval))
    }

    static let clips = [CodedClip.h264, .hevc]

    @Test(
        "The pictures come out with their bytes and times, for any number of packets in a payload",
        arguments: clips.indices, [1, 2, 3, 7, 40])
    func pictures(_ clip: Int, _ count: Int) {
        let clip = Self.clips[clip]
        for size in [TransportWriter.Size.none, .right, .wrapped] {
            for hasDelimiter in [true, false] {
                let writer = Self.stream(clip) { ($0.size, $0.hasDelimiter) = (size, hasDelimiter) }
                let joiner = Depacketizer(.transportStream)
                let units = joiner.receiveAll(writer.payloads(count))
                #expect(units.map(\.bytes) == Self.expected(writer, clip))
                #expect(units.map { Self.index(of: $0, writer) } == Array(clip.pictures.indices))
                #expect(joiner.transportStream == .known(clip.isHEVC ? .hevc : .h264))
                #expect(!units.contains { $0.isAfterLoss || $0.isDamaged || $0.startsTimeline })
                #expect(units.filter(\.isKey).count == 2)
            }
        }
    }

    @Test("Any cut of the bytes gives the same pictures", arguments: 0..<30)
    func cuts(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let writer = Self.stream { $0.stuffing = seed % 2 == 0 ? 3 : 0 }
        let most = [3, 100, 190, 400, 1500, 5000][Int(seed % 6)]
        let pieces = writer.pieces { _ in Int.random(in: 1...most, using: &random) }
        let units = Depacketizer(.transportStream).receiveAll(pieces, isBuffered: seed % 3 == 0)
        #expect(units.map(\.bytes) == Self.expected(writer, .h264))
    }

    @Test(
        "A picture is returned with its last packet once the sender has proven where its pictures end",
        arguments: clips.indices, [TransportWriter.Size.none, .right])
    func eager(_ clip: Int, _ size: TransportWriter.Size) {
        let clip = Self.clips[clip]
        var writer = Self.stream(clip) { $0.size = size }
        writer.appendOthers(20)
        let joiner = Depacketizer(.transportStream)
        var out = 0
        for (index, packet) in writer.payloads(1).enumerated() {
            out += joiner.receive(packet).count
            guard index + 1 < writer.pictures.count, let picture = writer.pictures[index] else { continue }
            let isLast = writer.pictures[index + 1] != picture
            // Above the largest picture so far the proof is still to come.
            let sizes = clip.annexB.map(\.count)
            guard picture >= 2, isLast, sizes[picture] <= sizes[..<picture].max() ?? 0 else { continue }
            #expect(out == picture + 1, "picture \(picture)")
        }
        #expect(joiner.statistics.latePictureParts == 0 && joiner.quietDeadline == nil)
    }

    @Test("A picture that may be complete waits for data that has arrived already, and for nothing else")
    func held() throws {
        let writer = Self.stream()
        let joiner = Depacketizer(.transportStream)
        var out = 0
        for (index, packet) in writer.payloads(1).enumerated() {
            out += joiner.receive(packet, hasMore: true).count
            guard index + 1 < writer.pictures.count, let picture = writer.pictures[index], picture >= 2,
                writer.pictures[index + 1] != picture
            else { continue }
            let sizes = CodedClip.h264.annexB.map(\.count)
            guard sizes[picture] <= sizes[..<picture].max() ?? 0 else { continue }
            #expect(out == picture)
            let deadline = try #require(joiner.quietDeadline)
            joiner.tick(at: deadline)
            out += joiner.takeAll().count
            #expect(out == picture + 1)
        }
    }

    @Test("Stuffing within pictures never ends one, and is not trusted again", arguments: clips.indices, [2, 3, 5])
    func falseStuffing(_ clip: Int, _ every: Int) {
        let clip = Self.clips[clip]
        let writer = Self.stream(clip) { ($0.size, $0.stuffing) = (.none, every) }
        let joiner = Depacketizer(.transportStream)
        let units = writer.payloads(1).flatMap { joiner.receive($0) }
        joiner.end()
        #expect((units + joiner.takeAll()).map(\.bytes) == Self.expected(writer, clip))
    }

    @Test("A sender that begins to stuff within pictures costs the picture and marks the next")
    func lateLie() {
        let clip = CodedClip.h264
        var writer = Self.writer { $0.size = .none }
        writer.appendTables()
        writer.append(CodedClip(pictures: Array(clip.pictures[..<11])))
        writer.stuffing = 2
        writer.append(CodedClip(pictures: Array(clip.pictures[11...])), from: 11)
        let joiner = Depacketizer(.transportStream)
        let units = writer.payloads(1).flatMap { joiner.receive($0) }
        let expected = Self.expected(writer, clip)
        let wrong = units.filter { $0.bytes != expected[Self.index(of: $0, writer)] }
        // One picture is returned before its end, and the next one is marked so.
        #expect(wrong.count == 1 && joiner.statistics.latePictureParts == 1)
        #expect(units.contains { $0.isAfterLoss })
    }

    @Test("Slices in separate PES packets make one picture", arguments: clips.indices)
    func slices(_ clip: Int) {
        let clip = Self.clips[clip]
        let writer = Self.stream(clip) { $0.hasPESPerSlice = true }
        for count in [1, 7] {
            let joiner = Depacketizer(.transportStream)
            let units = joiner.receiveAll(writer.payloads(count))
            #expect(units.map(\.bytes) == Self.expected(writer, clip))
        }
    }

    @Test("PES packets that begin in mid-picture give whole pictures with their times", arguments: clips.indices)
    func unaligned(_ clip: Int) {
        let clip = Self.clips[clip]
        for size in [TransportWriter.Size.none, .right] {
            let writer = Self.stream(clip) { ($0.isUnaligned, $0.size) = (true, size) }
            for count in [1, 7] {
                let units = Depacketizer(.transportStream).receiveAll(writer.payloads(count))
                #expect(units.map(\.bytes) == Self.expected(writer, clip))
                #expect(units.map { Self.index(of: $0, writer) } == Array(clip.pictures.indices))
            }
        }
    }

    @Test("A stream joined in mid-picture begins with the next")
    func join() {
        let writer = Self.stream()
        let packets = writer.payloads(1)
        let middle = packets.indices.first { writer.pictures[$0] == 3 } ?? 0
        // The tables come first, because they are repeated.
        let units = Depacketizer(.transportStream).receiveAll(Array(packets[..<2] + packets[(middle + 1)...]))
        #expect(units.map(\.bytes) == Array(Self.expected(writer, .h264)[4...]))
    }

    @Test("In the steady state no memory is allocated for pictures")
    func pooling() {
        let clip = CodedClip.h264
        var writer = Self.stream()
        for round in 1...10 { writer.append(clip, from: round * clip.pictures.count) }
        let joiner = Depacketizer(.transportStream)
        for packet in writer.payloads() { _ = joiner.receive(packet) }
        #expect(joiner.allocations < 6)
    }
}
