import InletCore
import InletRTP
import ReferenceTools
import Testing

/// Transport streams that ffmpeg muxes, compared with ffprobe's description of them.
@Suite struct TransportStreamTests {
    /// Reads payloads, of which some are lost, and ends.
    private func receive(_ payloads: [ArraySlice<UInt8>], without lost: Int? = nil) -> (Depacketizer, [AccessUnit]) {
        let joiner = Depacketizer(.transportStream)
        var units: [AccessUnit] = []
        for (index, payload) in payloads.enumerated() where index != lost {
            let bytes = Array(payload)
            let header = RTPHeader(
                payloadType: 33, sequence: UInt16(truncatingIfNeeded: index), timestamp: UInt32(index), ssrc: 1,
                payload: 0..<bytes.count)
            unsafe joiner.add(
                header, bytes.span.bytes, lostBefore: lost.map { $0 + 1 == index } ?? false ? 1 : 0,
                at: MonotonicTime(nanoseconds: Int64(index)), hasMore: false)
            while let unit = joiner.takeUnit() { units.append(unit) }
        }
        joiner.end()
        while let unit = joiner.takeUnit() { units.append(unit) }
        return (joiner, units)
    }

    private func bytes(_ unit: AccessUnit) -> [UInt8] {
        unsafe unit.data.bytes.withUnsafeBytes { unsafe Array($0) }
    }

    private func units(_ unit: AccessUnit, _ kind: TransportClip.Kind) -> [[UInt8]] {
        kind.hasUnits ? TransportClip.units(bytes(unit)) : [bytes(unit)]
    }

    @Test(
        "The pictures have the bytes and the times that ffprobe states, over the wrap of the clock",
        arguments: TransportClip.Kind.allCases)
    func pictures(_ kind: TransportClip.Kind) throws {
        let clip = try TransportClip(kind)
        // The 33-bit clock wraps within the clip; before the wrap, ffprobe counts from below zero.
        #expect(clip.times.contains { $0 < 0 } && clip.times.contains { $0 > 0 })
        for packets in [7, 1, 5] {
            let (joiner, units) = receive(clip.payloads(packets))
            #expect(joiner.transportStream == .known(kind.codec))
            #expect(units.map(\.timestamp) == clip.times.map { UInt32(truncatingIfNeeded: $0) })
            for (unit, expected) in zip(units, clip.pictures) { #expect(self.units(unit, kind) == expected) }
            #expect(!units.contains { $0.isAfterLoss || $0.isDamaged })
            // Sound and tables are ignored.
            #expect(joiner.statistics.lostTransportPackets == 0 && joiner.statistics.malformed == 0)
        }
    }

    @Test(
        "Each picture of a live stream precedes the next", arguments: [TransportClip.Kind.h264Live, .hevc])
    func eager(_ kind: TransportClip.Kind) throws {
        let clip = try TransportClip(kind)
        let joiner = Depacketizer(.transportStream)
        var (out, late, begun) = (0, 0, 0)
        for payload in clip.payloads(1) {
            let bytes = Array(payload)
            // The packet identifier of ffmpeg's first video, at the beginning of a PES packet.
            if bytes[1] == 0x41, bytes[2] == 0x00 {
                if begun > out { late += 1 }
                begun += 1
            }
            let header = RTPHeader(payloadType: 33, sequence: 0, timestamp: 0, ssrc: 1, payload: 0..<bytes.count)
            unsafe joiner.add(
                header, bytes.span.bytes, lostBefore: 0, at: MonotonicTime(nanoseconds: 0), hasMore: false)
            while joiner.takeUnit() != nil { out += 1 }
        }
        #expect(begun == 50)
        // Two pictures to learn from, those that are larger than all before, and those whose last packet needs no
        // stuffing.
        #expect(late <= 6, "\(late)")
        #expect(joiner.statistics.latePictureParts == 0)
    }

    @Test(
        "A lost payload never makes a wrong picture, and pictures that refer to a lost one are marked",
        arguments: TransportClip.Kind.allCases)
    func losses(_ kind: TransportClip.Kind) throws {
        let clip = try TransportClip(kind)
        var places: [UInt32: Int] = [:]
        for (index, time) in clip.times.enumerated() { places[UInt32(truncatingIfNeeded: time)] = index }
        for packets in [1, 7] {
            let payloads = clip.payloads(packets)
            // The first ones hold the tables.
            for lost in stride(from: 3, to: payloads.count, by: max(1, payloads.count / 40)) {
                let (_, units) = receive(payloads, without: lost)
                var next = 0
                for unit in units {
                    let place = try #require(places[unit.timestamp])
                    // Parameter sets that were lost with one picture may precede the next.
                    let (found, expected) = (slices(self.units(unit, kind), kind), slices(clip.pictures[place], kind))
                    #expect(found == expected, "\(lost), \(place)")
                    if place > next, !unit.isKey, next > 0 {
                        let isHarmless = kind.codec == .h264 && clip.pictures[next..<place].allSatisfy(Self.isUnused)
                        let isUnusedB = !kind.hasUnits && unit.isReference == false
                        // With H.265, the reference picture sets show which pictures are complete; the rest is dropped,
                        // not marked.
                        let isWhole = kind.codec == .hevc
                        #expect(unit.isAfterLoss || isHarmless || isUnusedB || isWhole, "\(lost), \(next), \(place)")
                    }
                    next = place + 1
                }
                // With H.265, a loss may cost the rest of a group of 12.
                #expect(units.count >= (kind.codec == .hevc ? 36 : 40), "\(lost)")
            }
        }
    }

    private func slices(_ units: [[UInt8]], _ kind: TransportClip.Kind) -> [[UInt8]] {
        switch kind.codec {
        case .h264: units.filter { [1, 5].contains($0[0] & 0x1F) }
        case .hevc: units.filter { $0[0] >> 1 < 32 }
        default: units
        }
    }

    /// Whether an H.264 picture is not used as a reference: `nal_ref_idc`.
    private static func isUnused(_ units: [[UInt8]]) -> Bool {
        units.allSatisfy { ![1, 5].contains($0[0] & 0x1F) || $0[0] & 0x60 == 0 }
    }
}
