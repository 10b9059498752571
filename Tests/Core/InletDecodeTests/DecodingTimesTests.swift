import Foundation
import ReferenceTools
import Testing

@testable import InletDecode

@Suite(.blocking) struct DecodingTimesTests {
    /// The times of a file's packets in decoding order, from ffprobe.
    private static func packets(of path: String) throws -> [(pts: Int64, dts: Int64)] {
        let listing = try ReferenceCommand.run(
            "ffprobe",
            ["-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts,dts", "-of", "csv=p=0", path])
        return String(decoding: listing, as: UTF8.self).split(separator: "\n").compactMap { line in
            let numbers = line.split(separator: ",").compactMap { Int64($0) }
            return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
        }
    }

    @Test(
        "Decoding times match an encoder's once as many packets were seen as it reorders",
        arguments: [
            "bf=1", "bf=2:b-pyramid=none", "bf=3:b-pyramid=normal:b-adapt=0", "bf=8:b-pyramid=normal:b-adapt=0",
        ])
    func likeAnEncoder(_ reordering: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.mp4")
        _ = try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25", "-frames:v", "80", "-c:v", "libx264", "-x264-params",
            "keyint=40:\(reordering)", path,
        ])
        let packets = try Self.packets(of: path)
        try #require(packets.count == 80)
        var times = DecodingTimes(depth: 0, interval: 512)
        times.learn(from: packets.prefix(9).map(\.pts))
        try #require(times.depth > 0)
        var made: [Int64?] = []
        for packet in packets { made.append(times.next(pts: packet.pts)) }
        for (index, (packet, time)) in zip(packets, made).enumerated().dropFirst(times.depth) {
            #expect(time == packet.dts, "packet \(index)")
        }
        #expect(zip(packets, made).allSatisfy { packet, time in time.map { $0 <= packet.pts } ?? false })
        let all = made.compactMap { $0 }
        #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("A stream that is reordered by more than was known restarts, and then keeps its times")
    func unknownDepth() {
        var times = DecodingTimes(depth: 0, interval: 100)
        let group: [Int64] = [0, 400, 200, 100, 300, 800, 600, 500, 700]
        var refused = 0
        for round in 0..<5 {
            var isWaiting = false
            for (index, offset) in group.enumerated() where index == 0 || !isWaiting {
                if times.next(pts: Int64(round) * 900 + offset) == nil {
                    refused += 1
                    isWaiting = true
                }
            }
        }
        #expect(times.depth == 2)
        #expect(refused == 2)
    }

    @Test(
        "A sender that restarts its time is followed at once, and nothing counts as reordering",
        arguments: [0, 2])
    func backwards(_ depth: Int) {
        var times = DecodingTimes(depth: depth, interval: 100)
        var before: [Int64?] = []
        for index in 0..<50 { before.append(times.next(pts: 1_000_000 + Int64(index) * 100)) }
        let first = times.next(pts: 0)
        var after: [Int64?] = []
        for index in 0..<50 { after.append(times.next(pts: Int64(index) * 100)) }
        #expect(!before.contains(nil) && first == nil && !after.contains(nil))
        #expect(times.depth == depth)
    }

    @Test("A gap in time is a gap in decoding times as well", arguments: [0, 2])
    func forwards(_ depth: Int) throws {
        var times = DecodingTimes(depth: depth, interval: 100)
        for index in 0..<50 { _ = times.next(pts: Int64(index) * 100) }
        for index in 0..<50 {
            let pts = 1_000_000 + Int64(index) * 100
            let next = times.next(pts: pts)
            let time = try #require(next)
            #expect(time <= pts && pts - time <= Int64(depth) * 100)
        }
    }

    @Test("The limits of a number do not trap")
    func extremes() {
        var times = DecodingTimes(depth: 2, interval: .max)
        for pts in [Int64.max, .min, 0, .max, -1, .min, .min, .max] { _ = times.next(pts: pts) }
    }
}
