import Foundation
import Glibc
import InletCore
import InletSystem
import ReferenceTools
import Synchronization
import Testing

@testable import InletPluginLoader

extension PluginProcessTests {
    /// New versions of a plug-in, whose files are replaced while a source runs.
    @Suite(.timeLimit(.minutes(10))) struct PluginUpdateTests {
        private let installed: InstalledPlugins

        init() throws { installed = try InstalledPlugins() }

        /// Builds a version next to the installed one, and renames it over that one.
        private func install(_ flags: [String], permissions: String = "", version: Int = 1) throws {
            let root = BuiltProgram.package.path
            let staged = installed.path("a/colour.so.new")
            try ReferenceCommand.run(
                "cc",
                [
                    "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-I\(root)/Sources/C/CInletPlugin/include",
                    "-fPIC",
                    "-fvisibility=hidden", "-shared", "-D_GNU_SOURCE",
                ] + flags.map { "-D\($0)" } + ["-o", staged, "\(root)/Tests/TestPlugins/colour.c"])
            try installed.mode(0o644, "a/colour.so.new")
            try installManifest(permissions, version: version)
            try rename(staged)
        }

        private func installManifest(_ permissions: String, version: Int) throws {
            let text = """
                {"inlet-plugin": 1, "name": "colour", "version": "\(version)", "license": "MIT", "summary": "A colour.",
                 "library": "colour.so", "permissions": [\(permissions)],
                 "sources": [{"schemes": ["colour"], "usage": "colour:"}]}
                """
            try installed.write("a/colour.inlet.json", text)
        }

        private func rename(_ staged: String) throws {
            guard unsafe Glibc.rename(staged, installed.path("a/colour.so")) == 0 else {
                throw InletError(.inputOutput, "rename failed")
            }
        }

        private func run(takesUpdates: Bool = true, settling: Duration = .milliseconds(200)) throws -> SourceRun {
            var discovery = PluginDiscovery(folders: [installed.path("a")])
            discovery.cachePath = nil
            discovery.probeTimeout = .seconds(60)
            discovery.settling = settling
            discovery.takesUpdates = takesUpdates
            let configuration = try installed.registry(discovery).source("colour:")
            return try SourceRun(try #require(configuration as? PluginSourceConfiguration))
        }

        /// Reads until a condition holds, and checks the numbers on the way.
        ///
        /// - Returns: the frames.
        private func read(_ run: SourceRun, until isDone: (SourceFrame) -> Bool) throws -> [SourceFrame] {
            let end = MonotonicTime.now + .seconds(120)
            var frames: [SourceFrame] = []
            while MonotonicTime.now < end {
                run.context.setDeadline(after: .seconds(60))
                let frame = try #require(try run.frame())
                if let last = frames.last { #expect(frame.sequence > last.sequence) }
                frames.append(frame)
                if isDone(frame) { return frames }
            }
            Issue.record("it does not come to that")
            return frames
        }

        private func luma(_ frame: SourceFrame) -> UInt8 {
            guard let plane = frame.planes[0], let top = unsafe plane.topRow else { return 0 }
            return withExtendedLifetime(frame.owner) { unsafe top[47 * plane.stride + 63] }
        }

        @Test(
            "A source changes to a new version with rising numbers, one discontinuity, and no gap except the start")
        func replaces() throws {
            try install(["COLOUR=10"])
            let run = try run()
            _ = try run.open()
            // Reads long enough that its times differ from those of the next version by more than on a shared timeline.
            #expect(luma(try read(run) { $0.sequence > 60 }[0]) == 10)
            try install(["COLOUR=20"], version: 2)
            let frames = try read(run) { luma($0) == 20 }
            let (before, first) = (frames.dropLast(), try #require(frames.last))
            #expect(before.allSatisfy { luma($0) == 10 && !$0.flags.contains(.discontinuity) })
            // No frame was lost in between: the old version ran until the new one had a picture.
            #expect(zip(frames, frames.dropFirst()).allSatisfy { $1.sequence == $0.sequence + 1 })
            #expect(first.flags.contains(.discontinuity))
            let later = try read(run) { $0.sequence > first.sequence + 5 }
            #expect(later.allSatisfy { luma($0) == 20 && !$0.flags.contains(.discontinuity) })
            #expect(run.updates.taken == ["colour 2"] && run.updates.refused.isEmpty)
            #expect(run.interruptions.texts.withLock { $0.isEmpty })
        }

        @Test(
            "A broken version is refused once, with the reason, and the running one continues until a good one arrives")
        func refusesBroken() throws {
            try install(["COLOUR=10"])
            let run = try run()
            _ = try run.open()
            var count = 0
            func expectRefusal(_ code: InletError.Code, _ replace: () throws -> Void) throws {
                count += 1
                try replace()
                let frames = try read(run) { _ in run.updates.refused.count == count }
                #expect(frames.allSatisfy { luma($0) == 10 })
                #expect(run.updates.refused.last?.code == code)
                // The source doesn't try the version again.
                let last = try #require(frames.last).sequence
                _ = try read(run) { $0.sequence > last + 60 }
                #expect(run.updates.refused.count == count)
            }
            try expectRefusal(.pluginRejected) {
                try installed.write("a/colour.so.new", "no library")
                try rename(installed.path("a/colour.so.new"))
            }
            // Its init works, so the probe passes: the first opening reveals the fault.
            try expectRefusal(.disconnected) { try install(["CRASHES"], version: 2) }
            try expectRefusal(.permissionDenied) {
                try install(["COLOUR=20"], permissions: "\"network\"", version: 3)
            }
            try expectRefusal(.pluginRejected) {
                try installed.mode(0o666, "a/colour.so")
                try touch()
            }
            try install(["COLOUR=30"], version: 4)
            _ = try read(run) { luma($0) == 30 }
            #expect(run.updates.taken == ["colour 4"])
        }

        /// Changes the library's modification time.
        private func touch() throws {
            try FileManager.default.setAttributes(
                [.modificationDate: Date()], ofItemAtPath: installed.path("a/colour.so"))
        }

        @Test("A file that is still being written is ignored until it has not changed for a while")
        func halfWritten() throws {
            try install(["COLOUR=10"])
            // Longer than the time between two pieces on the busiest machine.
            let run = try run(settling: .seconds(5))
            _ = try run.open()
            try install(["COLOUR=20"], version: 2)
            let whole = try Data(contentsOf: URL(filePath: installed.path("a/colour.so")))
            _ = try read(run) { luma($0) == 20 }
            try install(["COLOUR=30"], version: 3)
            let new = try Data(contentsOf: URL(filePath: installed.path("a/colour.so")))
            // The same file grows piece by piece, like with a slow copy.
            let path = installed.path("a/colour.so.new")
            try whole.prefix(0).write(to: URL(filePath: path))
            try installed.mode(0o644, "a/colour.so.new")
            try rename(path)
            let handle = try #require(FileHandle(forWritingAtPath: installed.path("a/colour.so")))
            for start in stride(from: 0, to: new.count, by: new.count / 20 + 1) {
                try handle.write(contentsOf: new[start..<min(new.count, start + new.count / 20 + 1)])
                let sequence = try #require(try run.frame()).sequence
                _ = try read(run) { $0.sequence > sequence + 2 }
            }
            try handle.close()
            _ = try read(run) { luma($0) == 30 }
            #expect(run.updates.refused.isEmpty, "\(run.updates.refused)")
        }

        @Test("A plug-in for one session is closed first, and the source is interrupted meanwhile")
        func closesFirst() throws {
            try install(["COLOUR=10"], permissions: "\"devices\"")
            let run = try run()
            _ = try run.open()
            _ = try read(run) { $0.sequence > 5 }
            #expect(ProcessFacts.children().count == 1)
            try install(["COLOUR=20"], permissions: "\"devices\"", version: 2)
            _ = try read(run) { luma($0) == 20 }
            #expect(run.interruptions.texts.withLock { $0 } == ["its plug-in is updated", nil])
            #expect(run.updates.taken == ["colour 2"])
        }

        @Test("If the new version of a one-session plug-in does not open, that is reported, and the source ends")
        func closesFirstInVain() throws {
            try install(["COLOUR=10"], permissions: "\"devices\"")
            let run = try run()
            _ = try run.open()
            _ = try read(run) { $0.sequence > 5 }
            try install(["CRASHES"], permissions: "\"devices\"", version: 2)
            let error = SourceRun.error { _ = try read(run) { _ in false } }
            #expect(error?.code == .disconnected)
            #expect(run.updates.refused.map(\.code) == [.disconnected] && run.updates.taken.isEmpty)
            #expect(run.interruptions.texts.withLock { $0 } == ["its plug-in is updated", nil])
        }

        @Test("With two versions on one timeline, the new one begins after the last picture of the old one")
        func oneTimeline() throws {
            try install(["COLOUR=10", "CLOCK"])
            let run = try run()
            _ = try run.open()
            _ = try read(run) { $0.sequence > 5 }
            try install(["COLOUR=20", "CLOCK"], version: 2)
            let frames = try read(run) { luma($0) == 20 }
            #expect(frames.allSatisfy { !$0.flags.contains(.discontinuity) })
            let times = frames.compactMap { $0.pts?.nanoseconds }
            #expect(times.count == frames.count && zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        }

        @Test("A source of packets changes over at a key frame of the new version")
        func packets() throws {
            try install(["COLOUR=10", "KEYS=5"])
            let run = try run()
            _ = try run.open()
            try install(["COLOUR=20", "KEYS=7"], version: 2)
            let end = MonotonicTime.now + .seconds(120)
            var byte: UInt8 = 10
            while MonotonicTime.now < end {
                run.context.setDeadline(after: .seconds(60))
                let packet = try #require(try run.source.next(run.context)?.packet)
                byte = packet.data.bytes[0]
                guard byte == 20 else { continue }
                #expect(packet.isKey && packet.flags.contains(.discontinuity))
                break
            }
            #expect(byte == 20)
            #expect(run.context.dropCounts.isEmpty)
        }

        @Test("With updates off, the next opening checks and runs the new version")
        func off() throws {
            try install(["COLOUR=10"])
            let run = try run(takesUpdates: false)
            _ = try run.open()
            try install(["COLOUR=20"], version: 2)
            #expect(try read(run) { $0.sequence > 60 }.allSatisfy { luma($0) == 10 })
            let configuration = run.configuration
            run.close()
            let again = try SourceRun(configuration)
            _ = try again.open()
            #expect(luma(try #require(try again.frame())) == 20)
            #expect(again.updates.taken == ["colour 2"])
            again.close()
            try installed.mode(0o666, "a/colour.so")
            try touch()
            let untrusted = try SourceRun(configuration)
            let error = SourceRun.error { _ = try untrusted.open() }
            #expect(error?.code == .pluginRejected && error?.message.contains("chmod go-w") == true)
            // A missing file may appear later.
            try FileManager.default.removeItem(atPath: installed.path("a/colour.so"))
            let absent = try SourceRun(configuration)
            #expect(SourceRun.error { _ = try absent.open() }?.code == .busy)
        }

        @Test("Ten replacements leave no process and no descriptor behind")
        func ten() throws {
            try install(["COLOUR=1"])
            let run = try run()
            let before = ProcessFacts.descriptors().count
            _ = try run.open()
            for colour in 2...11 {
                try install(["COLOUR=\(colour)"], version: colour)
                _ = try read(run) { luma($0) == UInt8(colour) }
            }
            #expect(run.updates.taken == (2...11).map { "colour \($0)" })
            run.close()
            #expect(ProcessFacts.children().isEmpty)
            #expect(ProcessFacts.descriptors().count <= before)
        }
    }
}
