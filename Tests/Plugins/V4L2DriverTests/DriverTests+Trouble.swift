import Foundation
import InletCore
import InletTesting
import InletV4L2
import ReferenceTools
import Testing
import V4L2Source

extension DriverTests {
    @Suite struct Trouble {
        @Test("The source keeps the contract of sources")
        func conformance() async throws {
            var suite = SourceConformance()
            suite.allowsTwoAtOnce = false
            // A virtual machine without hardware virtualisation is ten times slower.
            suite.cancellationLimit = .milliseconds(500)
            #expect(await suite.check(V4L2Configuration.vivid()) == [])
            #expect(await suite.check(V4L2Configuration.vivid(.second, format: "NM12")) == [])
        }

        @Test("Buffers that the driver drops are gaps in the count")
        func dropped() throws {
            try Vivid.first.control("-c", "percentage_of_dropped_buffers=50")
            defer { _ = try? Vivid.first.control("-c", "percentage_of_dropped_buffers=0") }
            let camera = try TestCamera(.vivid())
            // Drops are random; with so many pictures, the numbers almost certainly exceed the count by more than a
            // third.
            let numbers = try (0..<120).map { _ in try camera.next().sequence }
            #expect(numbers.first == 0)
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
            #expect((numbers.last ?? 0) >= 160)
            #expect(camera.context.dropCounts.isEmpty)
        }

        @Test("Damaged buffers are dropped and counted, or delivered with their mark, as the policy states")
        func damaged() throws {
            var configuration = V4L2Configuration.vivid()
            var camera = try TestCamera(configuration)
            _ = try camera.next()
            try Vivid.first.control("-c", "inject_v4l2_buf_flag_error=1")
            while camera.context.dropCounts[.damaged] == nil { _ = try camera.next() }
            #expect(camera.context.dropCounts == [.damaged: 1])
            #expect(try camera.next().flags.contains(.corrupt) == false)
            camera.close()

            configuration.damage = .deliver
            camera = try TestCamera(configuration)
            _ = try camera.next()
            try Vivid.first.control("-c", "inject_v4l2_buf_flag_error=1")
            while try !camera.next().flags.contains(.corrupt) {}
            #expect(camera.context.dropCounts.isEmpty)
        }

        @Test(
            "A driver that refuses to stream gives a code that is retried, and then streams",
            arguments: ["inject_vidioc_streamon_error", "inject_vidioc_qbuf_error"])
        func refuses(control: String) throws {
            try Vivid.first.control("-c", "\(control)=1")
            let error = #expect(throws: InletError.self) { try TestCamera(.vivid()) }
            #expect(error?.code == .inputOutput)
            #expect(error?.message.contains("refuses to stream") == true)
            _ = try TestCamera(.vivid()).next()
        }

        @Test("A driver that refuses its own buffers streams into ours")
        func refusesBuffers() throws {
            try Vivid.first.control("-c", "inject_vidioc_reqbufs_error=1")
            _ = try TestCamera(.vivid()).next()
        }

        @Test("A buffer that the driver refuses in mid-stream is not lost")
        func refusesOneBuffer() throws {
            let camera = try TestCamera(.vivid())
            for _ in 0..<20 {
                _ = try camera.next()
                try Vivid.first.control("-c", "inject_vidioc_qbuf_error=1")
            }
            for _ in 0..<10 { _ = try camera.next() }
        }

        @Test("A stream that breaks is an error that is retried, and a new source streams")
        func fatal() throws {
            let camera = try TestCamera(.vivid())
            _ = try camera.next()
            try Vivid.first.control("-c", "inject_fatal_streaming_error=1")
            let error = #expect(throws: InletError.self) { while true { _ = try camera.next() } }
            #expect(error?.code == .inputOutput)
            camera.close()
            _ = try TestCamera(.vivid()).next()
        }

        @Test("An unplugged camera is disconnected")
        func disconnected() throws {
            let camera = try TestCamera(.vivid())
            let frame = try camera.next()
            try Vivid.first.control("-c", "disconnect=1")
            let error = #expect(throws: InletError.self) { while true { _ = try camera.next() } }
            #expect(error?.code == .disconnected)
            camera.close()
            // Frames that a sink holds stay readable.
            #expect(Checksum.of(frame) == Checksum.of(frame))
            try Vivid.replug()
            _ = try TestCamera(.vivid()).next()
        }

        @Test("A count that wraps loses nothing")
        func wrappedSequence() throws {
            try Vivid.first.control("-c", "wrap_sequence_number=1")
            defer { _ = try? Vivid.first.control("-c", "wrap_sequence_number=0") }
            let camera = try TestCamera(.vivid())
            let numbers = try (0..<160).map { _ in try camera.next().sequence }
            // The wrap is after 128 frames; the slow machine may lose some.
            #expect((numbers.last ?? .max) < 1000)
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
        }

        @Test("Times that wrap are left out, so that arrival counts", arguments: [1, 2])
        func wrappedTime(kind: Int) throws {
            try Vivid.first.control("-c", "wrap_timestamp=\(kind)")
            defer { _ = try? Vivid.first.control("-c", "wrap_timestamp=0") }
            let camera = try TestCamera(.vivid())
            let frames = try (0..<10).map { _ in try camera.next() }
            #expect(frames.allSatisfy { $0.pts == nil && $0.captureTime == nil })
        }

        @Test(
            "The driver's times are the monotonic clock's, at the end of the frame or the start of its exposure",
            arguments: [0, 1])
        func times(source: Int) throws {
            try Vivid.first.control("-c", "timestamp_source=\(source)")
            defer { _ = try? Vivid.first.control("-c", "timestamp_source=0") }
            let camera = try TestCamera(.vivid())
            for _ in 0..<10 {
                let frame = try camera.next()
                let age = camera.context.clock.now - (try #require(frame.captureTime))
                #expect(age > .milliseconds(-50))
                #expect(age < .seconds(5))
            }
        }

        @Test("A camera that sends nothing is an error after the deadline")
        func hang() throws {
            try Vivid.first.control("-c", "percentage_of_dropped_buffers=100")
            defer { _ = try? Vivid.first.control("-c", "percentage_of_dropped_buffers=0") }
            let camera = try TestCamera(.vivid())
            let error = #expect(throws: InletError.self) {
                while true { _ = try camera.next(patience: .milliseconds(300)) }
            }
            #expect(error?.code == .timedOut)
            #expect(error?.message.contains("camera sent no picture") == true)
        }

        @Test("A second reader's error names the program that streams")
        func busy() throws {
            let camera = try TestCamera(.vivid())
            _ = try camera.next()
            let node = try Vivid.first.node
            let error = #expect(throws: (any Error).self) {
                try ReferenceCommand.run(
                    VirtualMachine.inlet, ["run", "v4l2:\(node)?size=640x360", "--frames", "3", "--retry", "0"])
            }
            #expect(
                "\(error.map { "\($0)" } ?? "")".contains(
                    "(process \(ProcessInfo.processInfo.processIdentifier)) holds it"))
        }

        @Test("A user outside the group video gets an error that names the group")
        func permission() throws {
            let error = #expect(throws: (any Error).self) {
                try ReferenceCommand.run(
                    "su",
                    [
                        "nobody", "-s", "/bin/sh", "-c",
                        "'\(VirtualMachine.inlet)' run v4l2:\(try Vivid.first.node) --frames 1",
                    ])
            }
            #expect("\(error.map { "\($0)" } ?? "")".contains("group video"))
        }

        @Test("The error for a node that is not a camera states its type")
        func noCamera() throws {
            let output = try #require(V4L2Devices.list(.output, formats: false).first)
            let error = #expect(throws: InletError.self) { try TestCamera(V4L2Configuration(.node(output.node))) }
            #expect(error?.code == .unsupported)
            #expect(throws: InletError.self) { try TestCamera(V4L2Configuration(.node("/dev/null"))) }
            #expect(throws: InletError.self) { try TestCamera(V4L2Configuration(.node("/etc/passwd"))) }
        }

        @Test("When an HDMI source changes its size, the frames follow, marked as a discontinuity")
        func sourceChange() throws {
            let configuration = try V4L2Configuration.hdmi()
            defer { Vivid.first.leaveHDMI() }
            let camera = try TestCamera(configuration)
            let before = try camera.next()
            // Another of the driver's list of timings.
            try Vivid.first.control("-c", "dv_timings=4")
            var after = try camera.next()
            for _ in 0..<300 where !after.flags.contains(.discontinuity) { after = try camera.next() }
            #expect(after.size != before.size)
            #expect(after.sequence > before.sequence)
            _ = try camera.next()
        }
    }
}
