import InletCore
import Testing

@testable import InletDecode

/// The input of a gate and its decisions, in tables.
@Suite struct PictureGateTests {
    /// Times are in hundredths of a second.
    enum Event {
        case key(Int64?), delta(Int64?)
        /// Packets that lack something.
        case brokenKey(Int64?), brokenDelta(Int64?)
        /// A loss that no packet reports.
        case loss
        /// Pictures that the decoder outputs.
        case picture(Int64?), keyPicture(Int64?), damagedPicture(Int64?)
        /// Decoding continues here after a skipped stretch.
        case resume(Int64?)
        case start(Int64)
        case rewind
    }

    struct Row: CustomTestStringConvertible {
        var what: String
        var events: [(Event, String)]
        var policy = DamagePolicy.drop
        var isLive = true
        var testDescription: String { what }
    }

    /// `ok` means decoded or delivered, `-` withheld without a loss, and a reason a counted loss.
    static let table: [Row] = [
        Row(
            what: "a live stream is joined at a key frame, and its leading pictures do not count as lost",
            events: [
                (.delta(96), "-"), (.key(100), "ok"), (.delta(98), "ok"), (.picture(98), "-"), (.keyPicture(100), "ok"),
                (.picture(104), "ok"),
            ]),
        Row(
            what: "between a loss and the next key frame, nothing is decoded and everything is counted",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.brokenDelta(4), "damaged"), (.delta(8), "damaged"),
                (.brokenKey(12), "damaged"), (.delta(16), "damaged"), (.key(20), "ok"), (.delta(18), "ok"),
                (.picture(18), "damaged"), (.keyPicture(20), "ok"), (.picture(24), "ok"),
            ]),
        Row(
            what: "a picture that the decoder reports as damaged is withheld",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.damagedPicture(4), "damaged"), (.delta(8), "damaged"),
                (.key(12), "ok"), (.keyPicture(12), "ok"),
            ]),
        Row(
            what: "a restarted encoder behind a relay is followed at once",
            events: [
                (.key(900_000), "ok"), (.keyPicture(900_000), "ok"), (.key(0), "step"), (.keyPicture(0), "ok"),
                (.delta(4), "ok"), (.picture(4), "ok"),
            ]),
        Row(
            what: "a restart before the first picture is output is also followed at once",
            events: [(.key(900_000), "ok"), (.key(0), "step"), (.keyPicture(0), "ok"), (.picture(4), "ok")]),
        Row(
            what: "a counter that restarts between two key frames loses nothing",
            events: [
                (.key(1 << 33 - 8), "ok"), (.keyPicture(1 << 33 - 8), "ok"), (.delta(1 << 33 - 4), "ok"),
                (.delta(0), "step"), (.picture(1 << 33 - 4), "ok"), (.picture(0), "ok"), (.delta(4), "ok"),
                (.picture(4), "ok"),
            ]),
        Row(
            what: "a step back after a loss loses nothing else",
            events: [
                (.key(900_000), "ok"), (.keyPicture(900_000), "ok"), (.loss, ""), (.delta(900_004), "damaged"),
                (.key(900_008), "ok"), (.delta(4), "step"), (.picture(4), "ok"),
            ]),
        Row(
            what: "a step back that is less than a reordering ends by the next key frame, and is counted",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.loss, ""), (.key(500), "ok"), (.delta(300), "ok"),
                (.picture(300), "damaged"), (.key(304), "step"), (.keyPicture(304), "ok"),
            ]),
        Row(
            what: "pictures without times are delivered",
            events: [
                (.key(nil), "ok"), (.keyPicture(nil), "ok"), (.delta(nil), "ok"), (.picture(nil), "ok"), (.loss, ""),
                (.delta(nil), "damaged"), (.key(nil), "ok"), (.keyPicture(nil), "ok"),
            ]),
        Row(
            what: "a skipped stretch does not count as lost",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.key(200), "ok"), (.resume(200), ""), (.picture(196), "-"),
                (.keyPicture(200), "ok"), (.picture(204), "ok"),
            ]),
        Row(
            what: "damaged pictures are marked, with that policy, until the next key frame is output",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.brokenDelta(4), "ok"), (.picture(4), "mark"),
                (.delta(8), "ok"), (.picture(8), "mark"), (.key(12), "ok"), (.keyPicture(12), "ok"),
            ], policy: .mark),
        Row(
            what: "an incomplete key frame is marked, and a complete one after it is not",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.brokenKey(4), "ok"), (.keyPicture(4), "mark"),
                (.key(8), "ok"), (.keyPicture(8), "ok"), (.brokenKey(nil), "ok"), (.keyPicture(nil), "mark"),
                (.key(nil), "ok"), (.keyPicture(nil), "ok"),
            ], policy: .mark),
        Row(
            what: "damaged pictures are marked two seconds after the last whole one if the policy is automatic",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.brokenDelta(4), "ok"), (.picture(4), "damaged"),
                (.delta(203), "ok"), (.picture(203), "damaged"), (.delta(204), "ok"), (.picture(204), "mark"),
                (.damagedPicture(208), "mark"), (.key(212), "ok"), (.keyPicture(212), "ok"),
                (.brokenDelta(216), "ok"), (.picture(216), "damaged"), (.picture(nil), "damaged"),
                (.key(0), "step"), (.keyPicture(0), "ok"), (.brokenDelta(4), "ok"), (.picture(4), "damaged"),
            ], policy: .automatic),
        Row(
            what: "nothing is lost before the first key frame, nor for six seconds if the policy is automatic",
            events: [
                (.delta(0), "ok"), (.damagedPicture(0), "-"), (.delta(599), "ok"), (.picture(599), "-"),
                (.delta(600), "ok"), (.picture(600), "mark"), (.delta(604), "ok"), (.damagedPicture(604), "mark"),
                (.key(608), "ok"), (.keyPicture(608), "ok"), (.picture(612), "ok"),
            ], policy: .automatic),
        Row(
            what: "a key frame does not make earlier damaged pictures whole that the decoder held back",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.brokenDelta(4), "ok"), (.delta(8), "ok"), (.key(16), "ok"),
                (.picture(4), "mark"), (.picture(8), "mark"), (.keyPicture(16), "ok"), (.picture(20), "ok"),
            ], policy: .mark),
        Row(
            what: "damaged pictures are shown, with that policy",
            events: [(.key(0), "ok"), (.keyPicture(0), "ok"), (.brokenDelta(4), "ok"), (.damagedPicture(4), "ok")],
            policy: .show),
        Row(
            what: "a file is decoded throughout, and its damaged pictures are counted",
            events: [
                (.delta(0), "ok"), (.picture(0), "ok"), (.damagedPicture(4), "damaged"), (.delta(8), "ok"),
                (.picture(8), "damaged"), (.key(12), "ok"), (.keyPicture(12), "ok"),
            ], isLive: false),
        Row(
            what: "pictures before the start of a file do not count as lost",
            events: [
                (.start(108), ""), (.key(100), "ok"), (.keyPicture(100), "-"), (.picture(104), "-"),
                (.picture(108), "ok"), (.picture(104), "ok"),
            ], isLive: false),
        Row(
            what: "a step back in a file is followed, before and after its start was reached",
            events: [
                (.start(108), ""), (.key(100), "ok"), (.keyPicture(100), "-"), (.key(0), "step"),
                (.keyPicture(0), "ok"), (.delta(4), "ok"), (.picture(4), "ok"),
            ], isLive: false),
        Row(
            what: "a file that is read again restarts",
            events: [
                (.start(108), ""), (.key(108), "ok"), (.keyPicture(108), "ok"), (.rewind, ""), (.key(0), "ok"),
                (.keyPicture(0), "ok"),
            ], isLive: false),
        Row(
            what: "the smallest and the largest numbers are valid times",
            events: [
                (.key(.max), "ok"), (.delta(.min), "step"), (.picture(.min), "ok"), (.picture(.max), "ok"),
                (.loss, ""), (.key(.min), "ok"), (.picture(.min), "ok"),
            ]),
    ]

    private func play(_ event: Event, _ gate: inout PictureGate) -> String {
        func packet(_ time: Int64?, isKey: Bool, lacksSomething: Bool = false) -> String {
            let packet = PictureGate.Packet(isKey: isKey, pts: time, dts: nil, lacksSomething: lacksSomething)
            let isStep = gate.stepsBack(packet)
            switch gate.admit(packet) {
            case .decode: return isStep ? "step" : "ok"
            case .keepBack(let reason): return reason?.description ?? "-"
            }
        }
        func picture(_ time: Int64?, isKey: Bool, isDamaged: Bool = false) -> String {
            switch gate.judge(PictureGate.Picture(isKey: isKey, isDamaged: isDamaged, time: time)) {
            case .deliver: "ok"
            case .mark: "mark"
            case .keepBack(let reason): reason?.description ?? "-"
            }
        }
        switch event {
        case .key(let time): return packet(time, isKey: true)
        case .delta(let time): return packet(time, isKey: false)
        case .brokenKey(let time): return packet(time, isKey: true, lacksSomething: true)
        case .brokenDelta(let time): return packet(time, isKey: false, lacksSomething: true)
        case .picture(let time): return picture(time, isKey: false)
        case .keyPicture(let time): return picture(time, isKey: true)
        case .damagedPicture(let time): return picture(time, isKey: false, isDamaged: true)
        case .loss: gate.noteLoss()
        case .resume(let time): gate.resume(at: PictureGate.Packet(isKey: true, pts: time, dts: nil))
        case .start(let time): gate.begin(at: time)
        case .rewind: gate.rewind()
        }
        return ""
    }

    @Test("Each packet and each picture gets the expected decision", arguments: table)
    func row(_ row: Row) {
        var gate = PictureGate(row.policy, isLive: row.isLive, timeBase: Rational(1, 100))
        for (index, (event, fate)) in row.events.enumerated() {
            #expect(play(event, &gate) == fate, "event \(index), \(event)")
        }
    }

    @Test("A stream without key frames is decoded after a while, because it refreshes its picture in another way")
    func patience() {
        var gate = PictureGate(.drop, isLive: true, timeBase: Rational(1, 100))
        let fates = (0..<601).map { play(.delta(Int64($0)), &gate) }
        #expect(fates.dropLast().allSatisfy { $0 == "-" } && fates.last == "ok")
        #expect(play(.delta(601), &gate) == "ok")
    }
}
