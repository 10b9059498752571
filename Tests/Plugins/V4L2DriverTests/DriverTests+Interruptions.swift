import Foundation
import InletCore
import InletV4L2
import ReferenceTools
import Testing
import V4L2Source

extension DriverTests {
    @Suite struct Interruptions {
        @Test("A closed shutter, at the opening or later, interrupts without a time-out until it opens")
        func shutter() throws {
            // The virtual camera has no shutter; its control of the same kind sends the same events.
            let control = try #require(V4L2Controls(.path(Vivid.first.bus)).list().first { $0.name == "boolean" })
            try Vivid.first.control("-c", "boolean=1")
            defer { _ = try? Vivid.first.control("-c", "boolean=1") }
            var configuration = V4L2Configuration.vivid()
            configuration.shutterControl = control.id
            let story = Story()
            let opener = Process()
            defer { if opener.isRunning { opener.waitUntilExit() } }
            let camera = try TestCamera(configuration) { reason in
                story.note(reason)
                guard reason != nil else { return }
                if story.all.count > 1 {
                    _ = try? Vivid.first.control("-c", "boolean=0")
                    return
                }
                // While the source waits for a frame, long after its time-out without the shutter.
                opener.executableURL = URL(fileURLWithPath: "/bin/sh")
                opener.arguments = [
                    "-c", "sleep 2; exec v4l2-ctl -d \"$0\" -c boolean=0", (try? Vivid.first.node) ?? "",
                ]
                try? opener.run()
            }
            #expect(story.all == ["the camera's shutter is closed"])
            let first = try camera.next(patience: .milliseconds(500))
            #expect(story.all == ["the camera's shutter is closed", nil])
            try Vivid.first.control("-c", "boolean=1")
            var numbers = [first.sequence]
            while story.all.count < 4 { numbers.append(try camera.next(patience: .seconds(20)).sequence) }
            #expect(story.all == ["the camera's shutter is closed", nil, "the camera's shutter is closed", nil])
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
            camera.close()

            try Vivid.first.control("-c", "boolean=1")
            configuration.shutter = .deliver
            let covered = Story()
            let other = try TestCamera(configuration) { covered.note($0) }
            _ = try other.next()
            #expect(covered.all.isEmpty)
        }

        @Test("The source waits for a camera that another program took in between, and names the program")
        func taken() throws {
            let configuration = try #require(V4L2Configuration.vivid().scopedToCapturer() as? V4L2Configuration)
            let before = try TestCamera(configuration)
            _ = try before.next()
            before.close()
            let other = Process()
            let output = Pipe()
            other.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            other.arguments = ["v4l2-ctl", "-d", try Vivid.first.node, "--stream-mmap", "--stream-to=-"]
            other.standardOutput = output
            other.standardInput = FileHandle.nullDevice
            other.standardError = FileHandle.nullDevice
            try other.run()
            let process = other.processIdentifier
            defer {
                kill(process, SIGKILL)
                other.waitUntilExit()
            }
            // It streams.
            #expect(output.fileHandleForReading.readData(ofLength: 1).count == 1)
            // The camera is not known yet, so this is an error.
            let error = #expect(throws: InletError.self) { try TestCamera(.vivid()) }
            #expect(error?.code == .busy)
            let story = Story()
            let after = try TestCamera(configuration, patience: .seconds(5)) { reason in
                story.note(reason)
                if reason != nil { kill(process, SIGKILL) }
            }
            #expect(story.all == ["v4l2-ctl (process \(process)) uses the camera", nil])
            _ = try after.next()
        }
    }
}
