import CInletPlugin
import InletCore
import Testing

@testable import InletPluginSDK

extension PluginKitTests {
    /// Sinks that are called through the tables of `inlet_plugin.h`.
    @Suite struct PluginKitSinkTests {
        init() { _ = SinkRecord.shared.take() }

        @Test("a sink's requirements are stated, and it owns each picture, even after the call")
        func pictures() throws {
            let sink = try TableSink("pictures")
            #expect((sink.wants.packets, sink.wants.width, sink.wants.height) == (0, 640, 360))
            #expect((sink.wants.frame_rate.numerator, sink.wants.frame_rate.denominator) == (15, 2))
            #expect(sink.wants.keeps_rotation == 0)
            try sink.start()
            let samples = (0..<59).map { UInt8($0) }
            #expect(try sink.consume(samples, sequence: 3) == INLET_OK)
            #expect(try sink.consume(samples.map { $0 + 100 }, sequence: 4) == INLET_OK)
            // Each frame states a change of the stream.
            try sink.start()
            try sink.finish()
            let (lines, frames) = SinkRecord.shared.take()
            #expect(lines == ["start 7x5 1/25 25 0", "frame 7x5 40 3 77", "frame 7x5 40 4 77", "finish"])
            for (number, frame) in frames.enumerated() {
                let bytes = I420Buffer.Plane.allCases.flatMap { plane in
                    let extent = I420Buffer.rows(of: plane, in: frame.size)
                    return (0..<extent.height).flatMap { row in
                        let span = frame.buffer.row(row, of: plane)
                        return (0..<extent.width).map { span[$0] }
                    }
                }
                #expect(bytes == samples.map { $0 + UInt8(100 * number) })
            }
        }

        @Test("a sink can end, and an error arrives with its code and sentence")
        func ends() throws {
            let stopping = try TableSink("pictures", "stops")
            try stopping.start()
            #expect(try stopping.consume([], sequence: 0) == INLET_END)
            let failing = try TableSink("pictures", "fails")
            try failing.start()
            let failure = try #require(throws: TableSource.Failure.self) { try failing.consume([], sequence: 0) }
            #expect(failure.result == inlet_result(INLET_ERROR_RESOURCE_EXHAUSTED))
            #expect(failure.message == "The disk is full." && failure.nativeCode == 28)
        }

        @Test("packets arrive with times and parameter sets; a sink that needs a key frame requests and gets one")
        func packets() throws {
            let sink = try TableSink("packets")
            #expect(sink.wants.packets == 1)
            try sink.start("h264")
            for (number, isKey) in [true, false, false, true, false].enumerated() {
                try sink.consume(packet: [UInt8(number)], number: Int64(number), isKey: isKey)
            }
            try sink.finish()
            #expect(
                SinkRecord.shared.take().lines == [
                    "start h264 1/25 [1, 2, 3]", "packet [0] 1 0 true", "packet [3] 4 3 true", "packet [4] 5 4 false",
                    "finish",
                ])
            #expect(sink.keyFrameRequests == 1)
        }

        @Test("a scheme of a source cannot make a sink")
        func strangers() throws {
            let failure = try #require(throws: TableSource.Failure.self) { try TableSink("scripted") }
            #expect(failure.result == inlet_result(INLET_ERROR_INVALID_CONFIGURATION))
        }
    }
}
