import CInletPlugin
import InletPluginIPC
import ReferenceTools
import Testing

/// Pictures and packets of sources, and the errors for inconsistent ones.
@Suite(.blocking) struct SourceTests {
    /// Opens a source, and returns the stream.
    private func open(_ child: PluginChild, _ options: [(String, String)]) throws -> inlet_wire_stream {
        let created = try child.create(options)
        #expect(created.result == INLET_OK, "\(created.text)")
        try child.send(INLET_MESSAGE_OPEN)
        return try child.receive(INLET_MESSAGE_OPENED)
    }

    /// Requests the first item, gives the segment that it needs, and returns both.
    private func first(_ child: PluginChild) throws -> (inlet_wire_item, TestSegment) {
        try child.sendNext()
        let need: inlet_need_segment = try child.receive(INLET_MESSAGE_NEED_SEGMENT)
        #expect(need.slot_length > 0 && need.slot_length.isMultiple(of: 4096))
        let segment = TestSegment(slotLength: need.slot_length)
        try child.send(segment)
        return (try child.receive(INLET_MESSAGE_ITEM), segment)
    }

    @Test("the sample fills slots with its bars, in step with its rate, until it is closed")
    func bars() throws {
        let plugin = try CompiledPlugin("bars", in: "Samples/CSource")
        let child = try PluginChild(["--library", plugin.path])
        let stream = try open(child, [("size", "17x5"), ("rate", "500")])
        #expect(stream.width == 17 && stream.height == 5)
        #expect(FixedText.text(stream.pixel_format) == "yuv420p")
        #expect(stream.time_base.numerator == 1 && stream.time_base.denominator == 500)
        #expect(stream.can_pause == 0)
        var (item, segment) = try first(child)
        for number in 0..<10 {
            if number > 0 {
                try child.sendNext(freeSlots: 1 << UInt64(number % 8))
                item = try child.receive(INLET_MESSAGE_ITEM)
                #expect(item.slot == UInt32(number % 8))
            }
            #expect(item.sequence == UInt64(number) && item.pts == Int64(number))
            #expect(item.segment == 1 && item.plane_count == 3 && item.width == 17)
            let luma = item.planes.0
            for row in 0..<5 {
                let bytes = segment.bytes(slot: item.slot, at: Int(luma.offset) + row * Int(luma.stride), count: 17)
                let bars: [UInt8] = [180, 180, 162, 162, 131, 131, 112, 112, 84, 84, 65, 65, 35, 35, 16, 16, 16]
                #expect(bytes == (row == number % 5 ? Array(repeating: 235, count: 17) : bars))
            }
            let blue = item.planes.1
            let bytes = segment.bytes(slot: item.slot, at: Int(blue.offset) + 2 * Int(blue.stride), count: 9)
            #expect(bytes == [128, 44, 156, 72, 184, 100, 212, 128, 128])
        }
        try child.send(INLET_MESSAGE_CLOSE)
        #expect(try child.waitForEnd() == .exit(0))
        #expect(child.output == "")
    }

    @Test("a cancelled source returns at once, and reports so")
    func cancellation() throws {
        let plugin = try CompiledPlugin("bars", in: "Samples/CSource")
        let child = try PluginChild(["--library", plugin.path])
        _ = try open(child, [("rate", "1")])
        _ = try first(child)
        child.cancel()
        try child.sendNext()
        let result: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
        #expect(result.result == INLET_ERROR_CANCELLED)
    }

    @Test("a source's own error is passed on, with its text")
    func error() throws {
        let plugin = try CompiledPlugin("bars", in: "Samples/CSource")
        let child = try PluginChild(["--library", plugin.path])
        let result = try child.create([("rate", "0")])
        #expect(result.result == INLET_ERROR_INVALID_CONFIGURATION)
        #expect(result.text == "The rate is out of range. Use 1 to 1000.")
    }

    @Test("lent pictures are copied, from bottom up too, and released")
    func lent() throws {
        let plugin = try CompiledPlugin("items")
        let child = try PluginChild(["--library", plugin.path])
        _ = try open(child, [("item", "picture")])
        var (item, segment) = try first(child)
        for number in 0..<3 as Range<UInt8> {
            if number > 0 {
                try child.sendNext()
                item = try child.receive(INLET_MESSAGE_ITEM)
                // The release of the picture before: it is released once it is copied.
                #expect(child.notes.contains { FixedText.text($0.text) == "released" && $0.count == 1 })
            }
            #expect(item.plane_count == 2)
            for (plane, rows) in [(item.planes.0, 4), (item.planes.1, 2)] {
                for row in 0..<rows {
                    let offset = Int(plane.offset) + row * Int(plane.stride)
                    #expect(segment.bytes(slot: item.slot, at: offset, count: 6) == Array(repeating: number, count: 6))
                }
            }
        }
    }

    @Test("packets are copied with their parameter sets")
    func packets() throws {
        let plugin = try CompiledPlugin("items")
        let child = try PluginChild(["--library", plugin.path])
        let stream = try open(child, [("item", "packet")])
        #expect(FixedText.text(stream.codec) == "h264")
        #expect(child.message.trailer(after: inlet_wire_stream.self) == [1, 2, 3])
        let (item, segment) = try first(child)
        #expect(item.is_packet == 1 && item.length == 101 && item.dts == -1 && item.parameter_sets_length == 0)
        #expect(segment.bytes(slot: item.slot, at: 0, count: 101) == Array(repeating: 0, count: 101))
        try child.sendNext(freeSlots: 4)
        let second: inlet_wire_item = try child.receive(INLET_MESSAGE_ITEM)
        #expect(second.slot == 2 && second.length == 102 && second.parameter_sets_length == 7)
        #expect(child.message.trailer(after: inlet_wire_item.self) == Array(repeating: 1, count: 7))
        #expect(segment.bytes(slot: 2, at: 0, count: 102) == Array(repeating: 1, count: 102))
    }

    @Test(
        "an inconsistent item has a clear error",
        arguments: [
            ("format", "'nonsense'"), ("no-zero", "'xxxx"), ("size", "2147483648x4"), ("zero", "6x0"),
            ("plane-count", "3 planes"), ("plane-null", "Plane 0"), ("plane-length", "Plane 0"),
            ("plane-offset", "Plane 1"), ("plane-stride", "Plane 0"), ("plane-overlap", "Plane 0"),
            ("slot-stolen", "slot 3"), ("empty-packet", "packet of 0 bytes"), ("is-packet", "is_packet is 2"),
            ("result", "returned 7"), ("result-negative", "returned -99"),
        ])
    func lies(item: String, words: String) throws {
        let plugin = try CompiledPlugin("items")
        let child = try PluginChild(["--library", plugin.path])
        _ = try open(child, [("item", item)])
        try child.sendNext()
        let result: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
        #expect(result.result == INLET_ERROR_PLUGIN)
        #expect(result.text.contains(words), "\(result.text)")
    }

    @Test("a slot is for the picture for which it was requested")
    func slots() throws {
        let plugin = try CompiledPlugin("items")
        for (item, code, words) in [
            ("slot-other-size", INLET_ERROR_PLUGIN, "6x4 in 'nv12' in a slot that it got for 8x8"),
            ("slot-twice", INLET_ERROR_INTERNAL, "called twice within next"),
        ] {
            let child = try PluginChild(["--library", plugin.path])
            _ = try open(child, [("item", item)])
            try child.sendNext()
            let need: inlet_need_segment = try child.receive(INLET_MESSAGE_NEED_SEGMENT)
            let segment = TestSegment(slotLength: need.slot_length)
            try child.send(segment)
            let result: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
            #expect(result.result == code)
            #expect(result.text.contains(words), "\(result.text)")
        }
        for (item, code, words) in [
            ("slot-format", INLET_ERROR_UNSUPPORTED, "'h264'"), ("slot-size", INLET_ERROR_INVALID_CONFIGURATION, "0x8"),
        ] {
            let child = try PluginChild(["--library", plugin.path])
            _ = try open(child, [("item", item)])
            try child.sendNext()
            let result: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
            #expect(result.result == code)
            #expect(result.text.contains(words), "\(result.text)")
        }
    }

    @Test("an error without text gets one, and an endless one is cut")
    func errors() throws {
        let plugin = try CompiledPlugin("items")
        for (item, code, count) in [
            ("silent-error", INLET_ERROR_BUSY, 0), ("long-error", INLET_ERROR_SERVER_UNAVAILABLE, 495),
        ] {
            let child = try PluginChild(["--library", plugin.path])
            _ = try open(child, [("item", item)])
            try child.sendNext()
            let result: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
            #expect(result.result == code)
            #expect(!result.text.isEmpty)
            if count > 0 {
                #expect(result.text == String(repeating: "x", count: count))
                #expect(result.native_code == 5 && result.retry_after == 1000)
            }
        }
    }

    @Test("without a free slot, and with a segment shorter than stated, there is an error and no crash")
    func segments() throws {
        let plugin = try CompiledPlugin("items")
        let child = try PluginChild(["--library", plugin.path])
        _ = try open(child, [("item", "picture")])
        let (_, segment) = try first(child)
        try child.sendNext(freeSlots: 0)
        let full: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
        #expect(full.result == INLET_ERROR_RESOURCE_EXHAUSTED)
        segment.message.slot_count = 64
        try child.send(segment)
        let refused: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
        #expect(refused.result == INLET_ERROR_INTERNAL)
    }

    @Test("pausing a source that cannot pause is refused")
    func pausing() throws {
        let plugin = try CompiledPlugin("items")
        let child = try PluginChild(["--library", plugin.path])
        _ = try open(child, [("item", "picture")])
        try child.send(INLET_MESSAGE_PAUSE)
        let result: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
        #expect(result.result == INLET_ERROR_UNSUPPORTED)
    }
}
