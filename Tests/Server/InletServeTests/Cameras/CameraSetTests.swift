import Inlet
import InletServe
import InletTesting
import ReferenceTools
import Testing

/// The guarantee for changes: an unaffected camera is not disturbed.
@Suite(.timeLimit(.minutes(5))) struct CameraSetTests {
    private static func camera(_ name: String, _ source: String, sinks: [String]) -> CameraSettings {
        CameraSettings(name: name, source: source, sinks: sinks.map { SinkSettings(uri: $0, queue: .lossless()) })
    }

    /// Makes a random change to some of the cameras `b`, or a second sink next to the recording of one of the cameras
    /// `a`.
    private static func change(
        _ cameras: inout [String: CameraSettings], using random: inout SplitMix64
    ) {
        let other = "b\(Int.random(in: 0..<10, using: &random))"
        let steady = "a\(Int.random(in: 0..<10, using: &random))"
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1: cameras[other] = camera(other, "count:\(random.next())", sinks: ["record:\(other)"])
        case 2: cameras[other] = nil
        case 3: cameras[other]?.policies.outage = Bool.random(using: &random) ? .hold : .nothing
        case 4: cameras[other]?.sinks = [SinkSettings(uri: "record:\(other)-\(random.next() & 3)")]
        case 5:
            // A second sink is attached and detached.
            let extra = SinkSettings(uri: "record:\(steady)-extra")
            if cameras[steady]?.sinks.contains(extra) == true {
                cameras[steady]?.sinks.removeAll { $0 == extra }
            } else {
                cameras[steady]?.sinks.append(extra)
            }
        default: cameras[steady]?.policies.view.quality = Int.random(in: 1...100, using: &random)
        }
    }

    @Test("500 random changes reopen no camera that they do not affect, and its recording loses no frame")
    func undisturbed() async throws {
        let recorders = Recorders()
        let cameraSet = CameraSet(registry: recorders.registry, spread: .zero, logger: silent)
        var cameras: [String: CameraSettings] = [:]
        for number in 0..<10 {
            let name = "a\(number)"
            cameras[name] = Self.camera(name, "count:\(name)", sinks: ["record:\(name)"])
        }
        await cameraSet.apply(cameras, version: 1)
        for number in 0..<10 { await recorders["a\(number)"].frames(atLeast: 3) }
        var random = SplitMix64(seed: 1919)
        var reopened = 0
        for version in 2...501 {
            let before = cameras
            Self.change(&cameras, using: &random)
            let plan = await cameraSet.apply(cameras, version: version)
            #expect(plan == ReloadPlan(from: before, to: cameras))
            for (name, change) in plan.summary where change != "adjusted" {
                #expect(name.utf8.first == UInt8(ascii: "b"))
                reopened += 1
            }
        }
        // The changes would have disturbed an affected camera.
        #expect(reopened > 100)
        for number in 0..<10 {
            let log = recorders["a\(number)"]
            await log.frames(atLeast: log.frames.count + 3)
        }
        for status in await cameraSet.statuses where status.settings.name.utf8.first == UInt8(ascii: "a") {
            let statistics = try #require(status.statistics)
            #expect(statistics.supervision.openings == 1)
            #expect(statistics.sinks.first?.drops == [:], "\(status.settings.name)")
            #expect(status.phase == .live)
        }
        await cameraSet.stop()
        for number in 0..<10 {
            let log = recorders["a\(number)"]
            #expect(log.formats.count == 1)
            #expect(log.isFinished)
            let sequences = log.frames.map(\.sequence)
            #expect(sequences == Array(0..<UInt64(sequences.count)), "a\(number)")
        }
    }

    @Test("A camera is paused and resumed, and restarts only on request")
    func control() async throws {
        let recorders = Recorders()
        let cameraSet = CameraSet(registry: recorders.registry, logger: silent)
        await cameraSet.apply(["a": Self.camera("a", "count:a", sinks: ["record:a"])], version: 1)
        await recorders["a"].frames(atLeast: 2)
        let camera = try #require(await cameraSet.camera("a"))
        await camera.pause()
        #expect(await camera.status.isPaused)
        await camera.resume()
        await recorders["a"].frames(atLeast: recorders["a"].frames.count + 2)
        #expect(await cameraSet.restart("a"))
        // The sink is another one, which begins with the first frame.
        let log = recorders["a"]
        try await Waiting.until("another sink", progress: { log.events.count }) { log.formats.count == 2 }
        #expect(await camera.status.statistics?.supervision.openings == 1)
        #expect(await cameraSet.restart("b") == false)
        await cameraSet.stop()
        #expect(await cameraSet.statuses.isEmpty)
    }

    @Test("The later of two changes wins, in whatever order they arrive")
    func order() async {
        let cameraSet = CameraSet(registry: Recorders().registry, logger: silent)
        await cameraSet.apply(["a": Self.camera("a", "count:a", sinks: [])], version: 3)
        let plan = await cameraSet.apply(["b": Self.camera("b", "count:b", sinks: [])], version: 2)
        #expect(plan.isEmpty)
        #expect(await cameraSet.current.keys.sorted() == ["a"])
        await cameraSet.stop()
        #expect(await cameraSet.apply(["a": Self.camera("a", "count:a", sinks: [])], version: 4).isEmpty)
    }

    @Test("A camera whose source cannot be made reports it, and the others run")
    func broken() async throws {
        let recorders = Recorders()
        let cameraSet = CameraSet(registry: recorders.registry, logger: silent)
        let events = cameraSet.events
        await cameraSet.apply(
            [
                "a": Self.camera("a", "count:a", sinks: ["record:a"]),
                "b": Self.camera("b", "nothing:b", sinks: ["record:b"]),
            ], version: 1)
        var failure: CameraSetEvent?
        for await event in events where event.kind == "failed" {
            failure = event
            break
        }
        #expect(failure?.camera == "b")
        await recorders["a"].frames(atLeast: 2)
        #expect(await cameraSet.camera("b")?.status.isHealthy == false)
        await cameraSet.stop()
    }
}
