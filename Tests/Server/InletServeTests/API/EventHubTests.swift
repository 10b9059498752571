import NIOEmbedded
import Testing

@testable import InletServe

/// Earlier events for clients that connect later.
@Suite struct EventHubTests {
    private final class Client: EventHub.Listener {
        let cameras: Set<String>
        var told = ""

        init(_ cameras: Set<String>) { self.cameras = cameras }

        func mayHear(of camera: String?) -> Bool { camera.map(cameras.contains) ?? false }
        func tell(_ text: String) { told += text }

        var ids: [String] {
            told.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
        }
    }

    private let loop = EmbeddedEventLoop()

    private func client(_ hub: EventHub, _ cameras: Set<String>, after last: String? = nil) -> Client {
        let client = Client(cameras)
        hub.add(client, after: last)
        return client
    }

    private func send(_ count: Int, _ hub: EventHub, text: String = "live") {
        for number in 1...count { hub.send(CameraSetEvent("state", text, camera: number % 2 == 0 ? "gate" : "door")) }
        loop.run()
    }

    @Test("A new client gets the last 50 events that it may see, in order, and then the following ones")
    func replay() {
        let hub = EventHub(loop, run: 9)
        send(60, hub)
        let (all, one) = (client(hub, ["door", "gate"]), client(hub, ["gate"]))
        #expect(all.ids == (11...60).map { "9-\($0)" })
        #expect(one.ids == (11...60).filter { $0 % 2 == 0 }.map { "9-\($0)" } && !one.told.contains("door"))
        send(1, hub)
        #expect(all.ids.last == "9-61" && one.ids.last == "9-60")
    }

    @Test(
        "A returning client gets the events that it missed; one from another run of the daemon gets all",
        arguments: [
            ("9-3", ["9-4", "9-5"]), ("9-5", []), ("9-99", []), ("8-3", ["9-1", "9-2", "9-3", "9-4", "9-5"]),
            ("3", ["9-1", "9-2", "9-3", "9-4", "9-5"]), ("9-x", ["9-1", "9-2", "9-3", "9-4", "9-5"]),
        ])
    func resume(_ last: String, _ ids: [String]) {
        let hub = EventHub(loop, run: 9)
        send(5, hub)
        #expect(client(hub, ["door", "gate"], after: last).ids == ids)
    }

    @Test("A returning client gets the events that it missed if the daemon started with a clock before 1970")
    func before1970() {
        let hub = EventHub(loop, run: -315_619_200_000_000_000)
        send(5, hub)
        let all = client(hub, ["door", "gate"]).ids
        #expect(all.count == 5)
        #expect(client(hub, ["door", "gate"], after: all[2]).ids == Array(all.suffix(2)))
    }

    @Test("The events of a quiet camera are kept while another has far more")
    func fairness() {
        let hub = EventHub(loop, run: 9)
        hub.send(CameraSetEvent("state", "live", camera: "gate"))
        for _ in 0..<200 { hub.send(CameraSetEvent("state", "live", camera: "door")) }
        loop.run()
        #expect(client(hub, ["door", "gate"]).ids == ["9-1"] + (153...201).map { "9-\($0)" })
    }

    @Test("Long events are dropped from the oldest on, so that a slow client is not disconnected")
    func bound() {
        let hub = EventHub(loop, run: 9)
        send(50, hub, text: String(repeating: "x", count: 2000))
        let told = client(hub, ["door", "gate"])
        #expect(told.told.utf8.count <= EventHub.longestReplay && told.ids.count >= 10 && told.ids.last == "9-50")
    }
}
