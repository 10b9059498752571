import Inlet
import InletServe
import Testing

struct ReloadPlanTests {
    private static func camera(
        _ name: String = "a", source: String = "pattern:", sinks: [String] = ["null:"],
        _ change: (inout CameraPolicies) -> Void = { _ in }
    ) -> CameraSettings {
        var camera = CameraSettings(name: name, source: source, sinks: sinks.map { SinkSettings(uri: $0) })
        change(&camera.policies)
        return camera
    }

    @Test("An unchanged camera is not touched")
    func same() {
        let cameras = ["a": Self.camera("a"), "b": Self.camera("b")]
        #expect(ReloadPlan(from: cameras, to: cameras).isEmpty)
    }

    @Test("New cameras are added, and missing ones are removed")
    func comesAndGoes() {
        let plan = ReloadPlan(from: ["a": Self.camera("a")], to: ["b": Self.camera("b")])
        #expect(plan.steps == ["a": .remove, "b": .add(Self.camera("b"))])
        #expect(plan.summary.map(\.change) == ["removed", "added"])
    }

    @Test(
        "A change of the source reopens it",
        arguments: [
            camera(source: "pattern:ball"), camera { $0.retry = .never }, camera { $0.timeout = .seconds(1) },
            camera { $0.giveUp = .seconds(1) }, camera { $0.outage = .text },
            camera { $0.closesUnwatchedAfter = .seconds(1) },
            camera(source: "pattern:ball", sinks: ["y4m:a"]),
        ])
    func reopened(_ new: CameraSettings) {
        #expect(ReloadPlan(from: ["a": Self.camera()], to: ["a": new]).steps == ["a": .reopen(new)])
    }

    @Test(
        "A change of sinks or viewers leaves the source open",
        arguments: [
            (camera(sinks: ["null:", "y4m:a"]), [], ["y4m:a"]), (camera(sinks: []), ["null:"], []),
            (camera(sinks: ["y4m:a"]), ["null:"], ["y4m:a"]), (camera { $0.view.quality = 9 }, [], []),
        ])
    func adjusted(_ new: CameraSettings, _ detached: [String], _ attached: [String]) {
        let plan = ReloadPlan(from: ["a": Self.camera()], to: ["a": new])
        #expect(
            plan.steps == [
                "a": .adjust(
                    new, detach: detached.map { SinkSettings(uri: $0) }, attach: attached.map { SinkSettings(uri: $0) })
            ])
    }

    @Test("A sink with another queue is another sink")
    func otherQueue() {
        var new = Self.camera()
        new.sinks[0].queue = .latest
        let plan = ReloadPlan(from: ["a": Self.camera()], to: ["a": new])
        #expect(plan.steps == ["a": .adjust(new, detach: [SinkSettings(uri: "null:")], attach: new.sinks)])
    }

    @Test(
        "An ended camera is restarted if that may help, at growing intervals",
        arguments: [
            (InletError.Code?.none, RetryPolicy(), 1, Duration?.none), (.notFound, RetryPolicy(), 1, .seconds(5)),
            (.notFound, RetryPolicy(), 2, .seconds(10)), (.notFound, RetryPolicy(), 99, .seconds(60)),
            (.authenticationFailed, RetryPolicy(), 1, nil), (.invalidConfiguration, RetryPolicy(), 1, nil),
            (.notFound, .never, 1, nil), (.timedOut, .attempts(3), 1, nil),
        ])
    func restart(_ code: InletError.Code?, _ retry: RetryPolicy, _ ends: Int, _ delay: Duration?) {
        #expect(RestartDecision.delay(after: code.map { InletError($0, "") }, retry: retry, ends: ends) == delay)
    }
}
