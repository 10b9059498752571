import InletCore
import InletRTP
import Testing

/// Losses, checked against the clip's known references: `nal_ref_idc` of H.264.
@Suite struct NALLossTests {
    /// Sends packets of which some are lost.
    static func receive(
        _ packets: [TestPacket], without lost: Set<Int>, _ joiner: Depacketizer, isBuffered: Bool = false
    ) -> [AccessUnit] {
        var units: [AccessUnit] = []
        var missing = 0
        for (index, packet) in packets.enumerated() {
            if lost.contains(index) {
                missing += 1
            } else {
                units += joiner.receive(packet, lostBefore: missing, hasMore: isBuffered)
                missing = 0
            }
        }
        joiner.end()
        return units + joiner.takeAll()
    }

    private static func isReference(_ clip: CodedClip, _ picture: Int) -> Bool {
        clip.pictures[picture].contains { $0[0] & 0x60 != 0 }
    }

    /// The slices of a unit. Parameter sets that were lost with one picture may precede the next.
    private static func slices(_ bytes: [UInt8]) -> [[UInt8]] {
        CodedClip.units(bytes).filter(CodedClip.h264.isSlice)
    }

    private static func index(of unit: AccessUnit, _ sender: NALSender) -> Int {
        Int((unit.timestamp &- sender.start) / sender.interval)
    }

    @Test(
        "Each lost packet costs its picture, and others only if they may refer to it",
        arguments: [40, 100, 4000]
    )
    func eachPacket(mtu: Int) {
        let clip = CodedClip.h264
        let sender = NALSender(mtu: mtu)
        let packets = sender.packets(clip)
        for lost in 1..<packets.count - 1 {
            let picture = packets[lost].picture
            // Lost parameter sets equal those before.
            let isSet = !(packets[lost].payload[0] & 0x1F == 28) && !clip.isSlice(packets[lost].payload)
            let joiner = Depacketizer.of(clip)
            let units = Self.receive(packets, without: [lost], joiner)
            let indices = units.map { Self.index(of: $0, sender) }
            #expect(indices == clip.pictures.indices.filter { isSet || $0 != picture }, "packet \(lost)")
            for unit in units {
                let expected = clip.annexB[Self.index(of: unit, sender)]
                #expect(Self.slices(unit.bytes) == Self.slices(expected), "packet \(lost)")
            }
            let marked = units.filter(\.isAfterLoss).map { Self.index(of: $0, sender) }
            let isHarmless = !isSet && !Self.isReference(clip, picture)
            // After the last picture of a group, only the next key picture can be marked, and it needs no other.
            if picture + 1 < clip.pictures.count, clip.pictures[picture + 1].count <= 2, !isSet {
                #expect(marked == (isHarmless ? [] : [picture + 1]), "packet \(lost)")
                #expect(joiner.statistics.lostNonReference == (isHarmless ? 1 : 0), "packet \(lost)")
            }
        }
    }

    @Test("With random losses no picture is wrong, and none that needs a lost one counts as good", arguments: 0..<40)
    func randomLosses(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var clip = CodedClip.h264
        for _ in 0..<3 { clip.pictures += CodedClip.h264.pictures }
        let mtu = [40, 100, 300, 4000][Int(seed % 4)]
        let sender = NALSender(mtu: mtu)
        let packets = sender.packets(clip)
        let share = [0.01, 0.05, 0.2][Int(seed % 3)]
        let lost = Set(packets.indices.filter { _ in random.fraction() < share })
        let units = Self.receive(packets, without: lost, .of(clip), isBuffered: seed % 2 == 0)
        var next = 0
        for unit in units {
            let index = Self.index(of: unit, sender)
            #expect(Self.slices(unit.bytes) == Self.slices(clip.annexB[index]))
            if !unit.isKey {
                let needed = (next..<index).contains { Self.isReference(clip, $0) }
                #expect(!needed || unit.isAfterLoss, "picture \(index)")
            }
            next = index + 1
        }
        // Each picture whose packets all arrived is returned. For the last one, the marker shows that.
        let whole = Set(clip.pictures.indices).subtracting(lost.map { packets[$0].picture })
        #expect(Set(units.map { Self.index(of: $0, sender) }).isSuperset(of: whole))
    }

    @Test("A damaged picture is returned and marked on request")
    func passes() throws {
        let clip = CodedClip.h264
        let packets = NALSender().packets(clip)
        let lost = try #require(packets.firstIndex { $0.picture == 1 }) + 1
        var settings = DepacketizerSettings()
        settings.damage = .pass
        let units = Self.receive(packets, without: [lost], .of(clip, settings))
        #expect(units.count == clip.pictures.count)
        #expect(units.map(\.isDamaged) == clip.pictures.indices.map { $0 == 1 })
        #expect(units[1].isReference == true)
        #expect(clip.annexB[1].count > units[1].bytes.count)
    }

    @Test(
        "After a lost picture of H.265 no picture is returned as after a loss, and none is lost without being counted")
    func hevc() {
        let clip = CodedClip.hevc
        let sender = NALSender(isHEVC: true)
        let packets = sender.packets(clip)
        var dropped = 0
        for lost in packets.indices.dropLast() where packets[lost].picture > 0 {
            let picture = packets[lost].picture
            let joiner = Depacketizer.of(clip)
            let units = Self.receive(packets, without: [lost], joiner)
            #expect(units.allSatisfy { !$0.isAfterLoss && !$0.isDamaged })
            let indices = units.map { Self.index(of: $0, sender) }
            // A packet with only parameter sets leaves nothing missing.
            guard !indices.contains(picture) else { continue }
            let counted = joiner.statistics.withoutReferences + joiner.statistics.leadingPictures
            #expect(indices.count + counted == clip.pictures.count - 1, "packet \(lost)")
            dropped += counted
        }
        #expect(dropped > 0)
    }

    @Test("The end of an unreferenced picture and the reference picture after it are lost at once")
    func lossAcrossPictures() throws {
        let clip = CodedClip.h264
        let packets = NALSender(mtu: 4000).packets(clip)
        // Pictures 2 and 3 are unreferenced, and 4 is referenced.
        #expect([2, 3, 4].map { Self.isReference(clip, $0) } == [false, false, true])
        let end = try #require(packets.lastIndex { $0.picture == 3 })
        let units = Self.receive(packets, without: [end, end + 1, end + 2], .of(clip))
        #expect(units.filter(\.isAfterLoss).map { Self.index(of: $0, NALSender()) } == [5])
    }

    @Test("A lost IDR picture is noticed though the frame numbers continue as if nothing was lost")
    func lostKeyPicture() {
        // IDR, reference picture 1, [IDR], reference picture 1: the numbers 0, [0], 1 show no gap.
        let clip = CodedClip.h264.pictures
        let pictures = [clip[0], clip[12], clip[13]]
        let sender = NALSender(mtu: 4000, aggregation: .annexB)
        let packets = sender.packets(CodedClip(pictures: pictures))
        #expect(packets.count == 3)
        let units = Self.receive(packets, without: [1], .of(.h264))
        #expect(units.map(\.isAfterLoss) == [false, true])
    }

    @Test("A connection that ends within the last picture does not show it", arguments: [40, 4000])
    func endsWithin(mtu: Int) {
        let clip = CodedClip.h264
        let packets = NALSender(mtu: mtu).packets(clip)
        #expect(Depacketizer.of(clip).receiveAll(packets.dropLast()).count == clip.pictures.count - 1)
    }

    @Test("After a restart the next unit counts as one after a loss")
    func restart() {
        let clip = CodedClip.h264
        let packets = NALSender().packets(clip)
        let joiner = Depacketizer.trusting()
        var units: [AccessUnit] = []
        for packet in packets.prefix(while: { $0.picture == 0 }) { units += joiner.receive(packet) }
        joiner.restart()
        for packet in packets where packet.picture == 1 { units += joiner.receive(packet) }
        #expect(units.map(\.isAfterLoss) == [false, true])
    }
}
