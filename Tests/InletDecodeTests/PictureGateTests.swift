import InletCore
import Testing

@testable import InletDecode

/// What goes into a gate, and what comes of it, in tables.
@Suite struct PictureGateTests {
    /// Times are in hundredths of a second.
    enum Event {
        case key(Int64?), delta(Int64?)
        /// Packets that lack something.
        case brokenKey(Int64?), brokenDelta(Int64?)
        /// A loss that no packet tells of.
        case loss
        /// Pictures that come out of the decoder.
        case picture(Int64?), keyPicture(Int64?), damagedPicture(Int64?)
        /// Decoding goes on here after a stretch that was passed over.
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

    /// `ok` is decoded or delivered, `-` kept back and not missed, and a reason what is counted.
    static let table: [Row] = [
        Row(
            what: "a live stream is joined at a key frame, and its leading pictures are not missed",
            events: [
                (.delta(96), "-"), (.key(100), "ok"), (.delta(98), "ok"), (.picture(98), "-"), (.keyPicture(100), "ok"),
                (.picture(104), "ok"),
            ]),
        Row(
            what: "between a loss and the next key frame nothing is decoded, and all of it is counted",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.brokenDelta(4), "damaged"), (.delta(8), "damaged"),
                (.brokenKey(12), "damaged"), (.delta(16), "damaged"), (.key(20), "ok"), (.delta(18), "ok"),
                (.picture(18), "damaged"), (.keyPicture(20), "ok"), (.picture(24), "ok"),
            ]),
        Row(
            what: "a picture that the decoder finds damaged is kept back",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.damagedPicture(4), "damaged"), (.delta(8), "damaged"),
                (.key(12), "ok"), (.keyPicture(12), "ok"),
            ]),
        Row(
            what: "an encoder that is started anew behind a relay is followed at once",
            events: [
                (.key(900_000), "ok"), (.keyPicture(900_000), "ok"), (.key(0), "step"), (.keyPicture(0), "ok"),
                (.delta(4), "ok"), (.picture(4), "ok"),
            ]),
        Row(
            what: "it is followed at once, too, before the first picture has come out",
            events: [(.key(900_000), "ok"), (.key(0), "step"), (.keyPicture(0), "ok"), (.picture(4), "ok")]),
        Row(
            what: "a counter that begins again between two key frames costs nothing",
            events: [
                (.key(1 << 33 - 8), "ok"), (.keyPicture(1 << 33 - 8), "ok"), (.delta(1 << 33 - 4), "ok"),
                (.delta(0), "step"), (.picture(1 << 33 - 4), "ok"), (.picture(0), "ok"), (.delta(4), "ok"),
                (.picture(4), "ok"),
            ]),
        Row(
            what: "a step back after a loss costs no more than the loss",
            events: [
                (.key(900_000), "ok"), (.keyPicture(900_000), "ok"), (.loss, ""), (.delta(900_004), "damaged"),
                (.key(900_008), "ok"), (.delta(4), "step"), (.picture(4), "ok"),
            ]),
        Row(
            what: "a step back that is less than a reordering ends at the next key frame at the latest, and is counted",
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
            what: "of a stretch that was passed over nothing is missed",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.key(200), "ok"), (.resume(200), ""), (.picture(196), "-"),
                (.keyPicture(200), "ok"), (.picture(204), "ok"),
            ]),
        Row(
            what: "damaged pictures are marked where that is wanted, until the next key frame is out",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.brokenDelta(4), "ok"), (.picture(4), "mark"),
                (.delta(8), "ok"), (.picture(8), "mark"), (.key(12), "ok"), (.keyPicture(12), "ok"),
            ], policy: .mark),
        Row(
            what: "a key frame that lacks something itself is marked, and the whole one behind it is not",
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
            what: "nothing is missed before the first key frame, nor for six seconds if the policy is automatic",
            events: [
                (.delta(0), "ok"), (.damagedPicture(0), "-"), (.delta(599), "ok"), (.picture(599), "-"),
                (.delta(600), "ok"), (.picture(600), "mark"), (.delta(604), "ok"), (.damagedPicture(604), "mark"),
                (.key(608), "ok"), (.keyPicture(608), "ok"), (.picture(612), "ok"),
            ], policy: .automatic),
        Row(
            what: "damaged pictures that the decoder held back do not become whole by a key frame behind them",
            events: [
                (.key(0), "ok"), (.keyPicture(0), "ok"), (.brokenDelta(4), "ok"), (.delta(8), "ok"), (.key(16), "ok"),
                (.picture(4), "mark"), (.picture(8), "mark"), (.keyPicture(16), "ok"), (.picture(20), "ok"),
            ], policy: .mark),
        Row(
            what: "damaged pictures are shown where that is wanted",
            events: [(.key(0), "ok"), (.keyPicture(0), "ok"), (.brokenDelta(4), "ok"), (.damagedPicture(4), "ok")],
            policy: .show),
        Row(
            what: "a file is decoded throughout, and its damaged pictures are counted",
            events: [
                (.delta(0), "ok"), (.picture(0), "ok"), (.damagedPicture(4), "damaged"), (.delta(8), "ok"),
                (.picture(8), "damaged"), (.key(12), "ok"), (.keyPicture(12), "ok"),
            ], isLive: false),
        Row(
            what: "what lies before the start of a file is not missed",
            events: [
                (.start(108), ""), (.key(100), "ok"), (.keyPicture(100), "-"), (.picture(104), "-"),
                (.picture(108), "ok"), (.picture(104), "ok"),
            ], isLive: false),
        Row(
            what: "a file's time that steps back is followed before its start was reached, and after",
            events: [
                (.start(108), ""), (.key(100), "ok"), (.keyPicture(100), "-"), (.key(0), "step"),
                (.keyPicture(0), "ok"), (.delta(4), "ok"), (.picture(4), "ok"),
            ], isLive: false),
        Row(
            what: "a file that is read once more begins anew",
            events: [
                (.start(108), ""), (.key(108), "ok"), (.keyPicture(108), "ok"), (.rewind, ""), (.key(0), "ok"),
                (.keyPicture(0), "ok"),
            ], isLive: false),
        Row(
            what: "the ends of what a number holds are times like others",
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

    @Test("Each packet and each picture has its fate", arguments: table)
    func row(_ row: Row) {
        var gate = PictureGate(row.policy, isLive: row.isLive, timeBase: Rational(1, 100))
        for (index, (event, fate)) in row.events.enumerated() {
            #expect(play(event, &gate) == fate, "event \(index), \(event)")
        }
    }

    @Test("A stream without key frames is decoded after a while, as it refreshes its picture in another way")
    func patience() {
        var gate = PictureGate(.drop, isLive: true, timeBase: Rational(1, 100))
        let fates = (0..<601).map { play(.delta(Int64($0)), &gate) }
        #expect(fates.dropLast().allSatisfy { $0 == "-" } && fates.last == "ok")
        #expect(play(.delta(601), &gate) == "ok")
    }
}
