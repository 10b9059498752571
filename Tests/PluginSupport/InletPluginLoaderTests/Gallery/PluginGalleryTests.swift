import Foundation
import InletCapture
import InletCore
import ReferenceTools
import Testing

extension PluginProcessTests {
    /// Every plug-in of `Tests/TestPlugins/Gallery`, run by the bridge next to healthy sources in the same process.
    @Suite struct PluginGalleryTests {
        /// The number of bad plug-ins that run at once. Most wait for a child or for a time-out.
        private static let width = 8

        @Test("The table of the gallery has a row for each plug-in, and a plug-in for each row")
        func table() throws {
            let rows = try GalleryRow.all()
            #expect(rows.map(\.name).sorted() == (try GalleryRow.sources()).sorted())
            #expect(rows.count > 150)
        }

        @Test("Every bad plug-in ends as the table states, costs other sources no frame, and leaves nothing")
        func gallery() async throws {
            let rows = try GalleryRow.all()
            let folder = try TemporaryFolder()
            try await Self.compile(into: folder)
            // Excludes permanent leftovers of the first run, such as the descriptors of queues.
            let good = GalleryRow(name: "good", place: .close, code: "none", words: "")
            #expect(try await GalleryRun(good, library: folder.path("out/good.so")).complaint == nil)
            let before = try await Waiting.untilStill("descriptors") { ProcessFacts.descriptors().sorted() }

            let camera = try SteadyCamera()
            try camera.start()
            let healthy = [
                HealthySource(camera), HealthySource(GalleryRun.source("good", library: folder.path("out/good.so"))),
            ]
            for source in healthy { try await source.goesOn() }
            var runs: [GalleryRun] = []
            try await withThrowingTaskGroup(of: GalleryRun.self) { group in
                for (index, row) in rows.enumerated() {
                    if index >= Self.width, let run = try await group.next() { runs.append(run) }
                    group.addTask {
                        let run = try await GalleryRun(row, library: folder.path("out/\(row.name).so"))
                        for source in healthy { try await source.goesOn() }
                        return run
                    }
                }
                for try await run in group { runs.append(run) }
            }
            let slowest = runs.sorted { $0.duration > $1.duration }.prefix(5)
            print("slowest of \(runs.count):", slowest.map { "\($0.row.name) \($0.duration)" }.joined(separator: ", "))
            var complaints = runs.compactMap(\.complaint)
            #expect(runs.count == rows.count)
            #expect(camera.lostCount == 0)
            for source in healthy { complaints += await source.stop() }
            camera.stop()
            #expect(complaints == [])
            #expect(ProcessFacts.children().isEmpty)
            #expect(ProcessFacts.sharedMaps() == 0)
            // The camera still has its own two descriptors. A queue may have closed one that it had before.
            let after = try await Waiting.untilStill("descriptors") { ProcessFacts.descriptors().sorted() }
            #expect(after.count - before.count <= 2, "\(before), \(after)")
            withExtendedLifetime(camera) {}
        }

        @Test("A delayed source loses frames, and the test notices that")
        func detection() async throws {
            let camera = try SteadyCamera()
            try camera.start()
            // There is no reader.
            try await Waiting.until("a lost frame", progress: { 0 }) { camera.lostCount > 0 }
            let source = HealthySource(camera)
            // More frames than the camera's buffer holds.
            try await Waiting.until("the frame after the lost one", progress: { source.frames }) {
                source.frames > SteadyCamera.capacity / SteadyCamera.length + 1
            }
            let complaints = await source.stop()
            camera.stop()
            #expect(complaints.contains { $0.contains("gaps") })
            #expect(complaints.contains { $0.contains("dropped") })
        }

        /// Compiles all plug-ins of the gallery, and a good one.
        private static func compile(into folder: TemporaryFolder) async throws {
            try await ReferenceCommand.runAside(
                "make",
                ["-j2", "--no-print-directory", "-C", GalleryRow.folder.path, "OUT=\(folder.path("out"))", "CC=cc"])
            let include = BuiltProgram.package.appending(path: "Sources/C/CInletPlugin/include").path
            try Data("#include \"gallery.h\"\n".utf8).write(to: URL(fileURLWithPath: folder.path("good.c")))
            try await ReferenceCommand.runAside(
                "cc",
                [
                    "-std=gnu11", "-O1", "-fPIC", "-fvisibility=hidden", "-pthread", "-I\(include)",
                    "-I\(GalleryRow.folder.path)", "-shared", "-o", folder.path("out/good.so"), folder.path("good.c"),
                ])
        }
    }
}
