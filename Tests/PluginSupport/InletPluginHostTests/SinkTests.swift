import CInletPlugin
import InletPluginIPC
import ReferenceTools
import Testing

/// A sink that counts, driven as Inlet drives it.
@Suite(.blocking) struct SinkTests {
    private func item(_ segment: TestSegment, slot: UInt32) -> inlet_wire_item {
        var item = inlet_wire_item()
        item.type = UInt32(INLET_MESSAGE_CONSUME)
        item.segment = segment.message.number
        item.slot = slot
        item.deadline = .max
        item.width = 4
        item.height = 2
        FixedText.write("gray", to: &item.pixel_format)
        item.plane_count = 1
        item.planes.0 = inlet_wire_plane(offset: 64, stride: 8)
        return item
    }

    private func start(_ child: PluginChild, width: UInt32 = 4) throws -> inlet_wire_result {
        var stream = inlet_wire_stream()
        stream.type = UInt32(INLET_MESSAGE_START)
        stream.width = width
        stream.deadline = .max
        try child.send(stream)
        return try child.receive(INLET_MESSAGE_RESULT)
    }

    @Test("a sink states its requirements, takes pictures and packets from slots, and finishes")
    func counts() throws {
        let plugin = try CompiledPlugin("counter")
        let child = try PluginChild(["--library", plugin.path])
        let created = try child.create(kind: INLET_KIND_SINK)
        #expect(created.result == INLET_OK, "\(created.text)")
        #expect(created.wants.width == 320 && created.wants.frame_rate.numerator == 10 && created.wants.packets == 0)
        #expect(try start(child).result == INLET_OK)
        let segment = TestSegment(slotLength: 4096)
        segment.write([1, 2, 3, 4, 99, 99, 99, 99, 5, 6, 7, 8], slot: 0, at: 64)
        segment.write([10, 20, 30], slot: 1)
        try child.send(segment)
        try child.send(item(segment, slot: 0))
        let first: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
        #expect(first.result == INLET_OK)
        var packet = item(segment, slot: 1)
        packet.is_packet = 1
        packet.length = 3
        try child.send(packet)
        let second: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
        #expect(second.result == INLET_OK)
        #expect(child.notes.map(\.type) == [UInt32(INLET_MESSAGE_KEY_FRAME)])
        try child.send(item(segment, slot: 2))
        let third: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
        #expect(third.result == INLET_OK)
        try child.send(item(segment, slot: 3))
        let last: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
        #expect(last.result == INLET_END)
        try child.send(INLET_MESSAGE_CLOSE)
        #expect(child.remainingNotes() == ["3 pictures, 1 packets, sum 96"])
        #expect(try child.waitForEnd() == .exit(0))
    }

    @Test("a stream that the sink does not support is refused by it")
    func refuses() throws {
        let plugin = try CompiledPlugin("counter")
        let child = try PluginChild(["--library", plugin.path])
        _ = try child.create(kind: INLET_KIND_SINK)
        #expect(try start(child, width: 5).result == INLET_ERROR_UNSUPPORTED)
    }

    @Test("an item outside of its segment is refused")
    func outside() throws {
        let plugin = try CompiledPlugin("counter")
        let child = try PluginChild(["--library", plugin.path])
        _ = try child.create(kind: INLET_KIND_SINK)
        _ = try start(child)
        let segment = TestSegment(slotLength: 4096)
        try child.send(segment)
        for change in [
            { $0.slot = 8 }, { $0.segment = 2 }, { $0.planes.0.offset = 4096 }, { $0.parameter_sets_length = 1 },
            {
                $0.is_packet = 1; $0.length = 4097
            },
        ] as [(inout inlet_wire_item) -> Void] {
            var wrong = item(segment, slot: 0)
            change(&wrong)
            try child.send(wrong)
            let result: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
            #expect(result.result == INLET_ERROR_INTERNAL)
        }
    }
}
