import InletCore
import InletRTP
import Testing

/// The tables of transport streams: the choice of the video stream.
@Suite struct ProgramTests {
    @Test("The check of sections uses the standard's polynomial")
    func checksum() {
        // The check value of CRC-32/MPEG-2 for the nine digits, from catalogues of checksums.
        #expect(TransportWriter.checksum(Array("123456789".utf8)) == [0x03, 0x76, 0xE6, 0xE7])
    }

    @Test("A map of several packets, after descriptors, is read")
    func largeMap() {
        let clip = CodedClip.h264
        var writer = TransportStreamTests.writer()
        writer.appendTables(descriptors: 700)
        writer.append(clip)
        for count in [1, 7] {
            let units = Depacketizer(.transportStream).receiveAll(writer.payloads(count))
            #expect(units.map(\.bytes) == TransportStreamTests.expected(writer, clip))
        }
    }

    @Test("In a list of many programs, the first whose map arrives with video is read")
    func programs() {
        let clip = CodedClip.h264
        var writer = TransportStreamTests.writer()
        writer.appendTables(programs: [1, 2, 3])
        // A program without video.
        writer.appendSection(
            pid: 0x1F02,
            TransportWriter.section(table: 2, number: 2, version: 0, [0xE2, 0, 0xF0, 0, 0x0F, 0xE2, 0, 0xF0, 0]))
        writer.append(clip)
        let joiner = Depacketizer(.transportStream)
        #expect(joiner.receiveAll(writer.payloads()).count == clip.pictures.count)
    }

    @Test("A section with a wrong check is not read, nor is one that is not valid yet")
    func wrong() {
        for place in [8, 12, 14, 21] {
            var writer = TransportStreamTests.stream()
            writer.change(1) { $0[place] ^= 1 }
            let joiner = Depacketizer(.transportStream)
            #expect(joiner.receiveAll(writer.payloads()).isEmpty)
            #expect(joiner.transportStream == .unknown)
            #expect(joiner.statistics.malformedSections == 1)
        }
        var writer = TransportStreamTests.writer()
        writer.appendTables()
        var section = TransportWriter.section(
            table: 2, number: 77, version: 1, [0xE1, 0, 0xF0, 0, 0x24, 0xE1, 0, 0xF0, 0])
        section[5] &= 0xFE
        section = Array(section.dropLast(4))
        writer.appendSection(pid: writer.mapPID, section + TransportWriter.checksum(section))
        writer.append(.h264)
        let joiner = Depacketizer(.transportStream)
        #expect(joiner.receiveAll(writer.payloads()).count == CodedClip.h264.pictures.count)
        #expect(joiner.transportStream == .known(.h264))
    }

    @Test("A stream without readable video names the types that it has")
    func unreadable() {
        var writer = TransportStreamTests.writer()
        writer.appendTables(streams: [(0x0F, 0x200), (0x33, 0x100)])
        writer.append(.h264)
        let joiner = Depacketizer(.transportStream)
        #expect(joiner.receiveAll(writer.payloads()).isEmpty)
        #expect(joiner.transportStream == .unreadable(types: [0x0F, 0x33]))
    }

    @Test("A scrambled stream is reported as such")
    func scrambled() {
        let writer = TransportStreamTests.stream { $0.isScrambled = true }
        let joiner = Depacketizer(.transportStream)
        #expect(joiner.receiveAll(writer.payloads()).isEmpty)
        #expect(joiner.transportStream == .scrambled)
    }

    @Test("Scrambled packets in a clear stream are missing, and no more")
    func partlyScrambled() {
        var writer = TransportStreamTests.stream()
        for index in writer.packets.indices where writer.pictures[index] == 4 {
            writer.change(index) { $0[3] |= 0x80 }
        }
        let joiner = Depacketizer(.transportStream)
        let units = joiner.receiveAll(writer.payloads(1))
        let expected = TransportStreamTests.expected(writer, .h264)
        #expect(units.map(\.bytes) == expected.indices.filter { $0 != 4 }.map { expected[$0] })
        #expect(units.first(where: \.isAfterLoss).map { TransportStreamTests.index(of: $0, writer) } == 5)
    }

    @Test("The video is followed to another packet identifier")
    func moved() {
        let clip = CodedClip.h264
        var writer = TransportStreamTests.writer()
        writer.appendTables()
        writer.append(clip)
        writer.videoPID = 0x123
        writer.appendTables(version: 1)
        writer.append(clip, from: clip.pictures.count)
        let joiner = Depacketizer(.transportStream)
        let units = joiner.receiveAll(writer.payloads())
        let expected = TransportStreamTests.expected(writer, clip)
        #expect(units.map(\.bytes) == expected + expected)
        #expect(units.filter(\.startsTimeline).count == 1)
    }

    @Test("Another codec ends the stream")
    func changed() {
        var writer = TransportStreamTests.stream()
        writer.appendTables(version: 1, streams: [(0x24, 0x100)])
        writer.append(.h264)
        let joiner = Depacketizer(.transportStream)
        #expect(joiner.receiveAll(writer.payloads()).count <= CodedClip.h264.pictures.count)
        #expect(joiner.transportStream == .changed)
    }

    @Test("The video is found again under another program number")
    func renumbered() {
        var writer = TransportStreamTests.stream()
        writer.mapPID = 0x1234
        writer.appendSection(
            pid: 0, TransportWriter.section(table: 0, number: 1, version: 1, [0, 78, 0xF2, 0x34]))
        writer.appendSection(
            pid: 0x1234,
            TransportWriter.section(table: 2, number: 78, version: 1, [0xE3, 0, 0xF0, 0, 0x1B, 0xE3, 0, 0xF0, 0]))
        writer.videoPID = 0x300
        writer.append(.h264, from: CodedClip.h264.pictures.count)
        let units = Depacketizer(.transportStream).receiveAll(writer.payloads())
        #expect(units.count == 2 * CodedClip.h264.pictures.count)
    }
}
