import InletCore
import Testing

@testable import V4L2Source

@Suite struct FieldPairingTests {
    /// Records fields, written as `t7` for the top field with the number 7.
    ///
    /// - Returns: the numbers of the frames that were joined, with the parity of their first fields, and those of the
    ///   frames that were incomplete.
    private static func pair(_ fields: String, _ order: FieldOrder = .topFirst) -> (
        joined: String, incomplete: [UInt32]
    ) {
        var pairing = FieldPairing(order)
        var joined: [String] = []
        var incomplete: [UInt32] = []
        for field in fields.split(separator: " ") {
            let parity = field.hasPrefix("t") ? FieldPairing.Parity.top : .bottom
            let (step, lost) = pairing.note(parity, number: UInt32(field.dropFirst()) ?? 0)
            incomplete += lost
            if case .second(let order, let number) = step {
                joined.append("\(order == .topFirst ? "t" : "b")\(number)")
            }
        }
        return (joined.joined(separator: " "), incomplete)
    }

    @Test(
        "The two fields with one number make a frame, and one whose other half was lost makes none",
        arguments: [
            ("t0 b0 t1 b1 t2 b2", "t0 t1 t2", []),
            ("b0 t0 b1 t1", "b0 b1", []),
            // The second, the first, and the neighbours of two frames are lost.
            ("t0 b0 t1 t2 b2", "t0 t2", [1]),
            ("t0 b0 b1 t2 b2", "t0 t2", [1]),
            ("t0 b0 t1 b2 t3 b3", "t0 t3", [1, 2]),
            // Whole frames are lost: the gap in the numbers shows that.
            ("t0 b0 t3 b3", "t0 t3", []),
            // The stream begins with half a frame.
            ("b0 t1 b1", "t1", []),
            ("t4294967295 b4294967295 t0 b0", "t4294967295 t0", []),
            // Loss after every second field looks like a count of fields.
            ("t0 b0 t1 b2 t3 b4 t5 b6 t7 b8 t9 b9", "t0 t9", [1, 2, 3, 4, 5, 6, 7, 8]),
        ] as [(String, String, [UInt32])])
    func framesAreCounted(fields: String, joined: String, incomplete: [UInt32]) {
        let result = Self.pair(fields)
        #expect(result.joined == joined)
        #expect(result.incomplete == incomplete)
    }

    @Test(
        "For a driver that counts fields, the standard determines which one begins a frame",
        arguments: [
            ("t0 b1 t2 b3 t4 b5 t6 b7 t8 b9", "t2 t3 t4", []),
            ("t0 b1 t2 b3 t4 b5 t6 t8 b9", "t2 t4", [3]),
            ("t0 b1 t2 b3 t4 b5 b7 t8 b9", "t2 t4", [3]),
            ("t0 b1 t2 b3 t4 b5 t6 b9 t10 b11", "t2 t5", [3, 4]),
            ("b7 t8 b9 t10 b11 t12 b13 t14 b15", "t6 t7", []),
        ] as [(String, String, [UInt32])])
    func fieldsAreCounted(fields: String, joined: String, incomplete: [UInt32]) {
        let result = Self.pair(fields)
        #expect(result.joined == joined)
        #expect(result.incomplete == incomplete)
    }

    @Test("A driver that does not count yields its fields in the order of the standard")
    func nothingIsCounted() {
        #expect(Self.pair("t0 b0 t0 b0 t0 b0").joined == "t0 t0 t0")
        // The top field is lost: its bottom field and the next top field belong to two frames.
        let loss = Self.pair("t0 b0 b0 t0 b0 t0 b0")
        #expect(loss.joined == "t0 t0 t0")
        #expect(loss.incomplete == [0])
        #expect(Self.pair("b0 t0 t0 b0 t0", .bottomFirst).joined == "b0 b0")
    }

    @Test("A field from before a restart is not half of a frame after it")
    func restart() {
        var pairing = FieldPairing(.topFirst)
        _ = pairing.note(.top, number: 0)
        _ = pairing.note(.bottom, number: 0)
        _ = pairing.note(.top, number: 1)
        pairing.restart()
        let (step, incomplete) = pairing.note(.bottom, number: 1)
        #expect(step == .first)
        #expect(incomplete.isEmpty)
    }
}
