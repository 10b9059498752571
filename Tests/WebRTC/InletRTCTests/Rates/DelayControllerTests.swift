import InletCore
import InletRTC
import Testing

@Suite struct DelayControllerTests {
    /// A link with a rate and an endless queue in front of it. Its far end sends a report every 50 milliseconds. Time
    /// advances in steps of 10 milliseconds.
    private struct Link {
        var controller: DelayController
        var capacity: Double
        /// The used share of the rate: easy pictures need less.
        var use = 1.0
        var loss = 0.0
        /// The additional delay of the route in seconds.
        var detour = 0.0
        private(set) var queue = 0.0
        private(set) var longestQueue = 0.0
        private(set) var rates: [Int] = []
        private var tick = 0
        private var arrived = 0.0
        private var sent = 0.0
        private var shortest = Double.infinity
        /// The ticks in which packets were sent, with the time when the link had passed them.
        private var under: [(sent: Int, through: Double)] = []
        private var newest: Int?
        private(set) var pauses = 0
        private var random: UInt64 = 1

        init(_ controller: DelayController, capacity: Double) {
            self.controller = controller
            self.capacity = capacity
        }

        mutating func run(seconds: Double) {
            (rates, longestQueue) = ([], 0)
            for _ in 0..<Int(seconds * 100) {
                tick += 1
                let isPaused = controller.pausedUntil.map { Int64(tick) * 10_000_000 < $0.nanoseconds } ?? false
                if isPaused { pauses += 1 }
                let bits = isPaused ? 0 : Double(controller.bitrate) * use / 100
                sent += bits
                queue += bits
                let passed = min(queue, capacity / 100)
                queue -= passed
                arrived += passed
                if bits > 0 { under.append((tick, Double(tick) / 100 + queue / capacity)) }
                while let first = under.first, first.through <= Double(tick) / 100 {
                    newest = first.sent
                    under.removeFirst()
                }
                shortest = min(shortest, queue / capacity)
                longestQueue = max(longestQueue, queue / capacity)
                guard tick % 5 == 0 else { continue }
                let now = MonotonicTime(nanoseconds: Int64(tick) * 10_000_000)
                let packets = max(1, Int(sent / 9600))
                var lost = 0
                for _ in 0..<packets {
                    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    if Double(random >> 33) / Double(1 << 31) < loss { lost += 1 }
                }
                controller.add(
                    PathReport(
                        time: now, expected: packets, lost: lost, receivedBitrate: Int(arrived * 20),
                        queueing: .nanoseconds(Int64((shortest + detour) * 1e9)),
                        newestSent: newest.map { MonotonicTime(nanoseconds: Int64($0) * 10_000_000) }))
                (sent, arrived, shortest) = (0, 0, .infinity)
                rates.append(controller.decide(at: now))
            }
        }
    }

    private func link(_ capacity: Double, start: Int = 2_500_000) throws -> Link {
        var settings = DelayController.Settings()
        settings.start = start
        return Link(try DelayController(settings), capacity: capacity)
    }

    @Test("From 5 Mbit/s to 500 kbit/s the rate follows within 5 seconds, and the queue is gone")
    func down() throws {
        var link = try link(5_000_000)
        link.run(seconds: 10)
        #expect(link.rates.last == 2_500_000)
        link.capacity = 500_000
        link.run(seconds: 5)
        #expect((250_000...550_000).contains(link.rates.last ?? 0))
        // Packets sent before the change is known: a quarter of a second at five times the capacity.
        #expect(link.longestQueue < 1.2, "\(link.longestQueue)")
        #expect((5...100).contains(link.pauses), "\(link.pauses)")
        link.run(seconds: 30)
        #expect(link.longestQueue < 0.2, "\(link.longestQueue)")
        let mean = link.rates.reduce(0, +) / link.rates.count
        #expect((375_000...500_000).contains(mean), "\(mean)")
    }

    @Test("Back at 5 Mbit/s the rate has recovered within 10 seconds, without a queue")
    func up() throws {
        var link = try link(500_000, start: 500_000)
        link.run(seconds: 20)
        link.capacity = 5_000_000
        link.run(seconds: 10)
        #expect(link.rates.last == 2_500_000)
        #expect(link.longestQueue < 0.1)
    }

    @Test("A longer route costs a few seconds and does not count as a queue for ever; nor does a shorter one after it")
    func route() throws {
        var link = try link(5_000_000)
        link.run(seconds: 10)
        link.detour = 0.08
        link.run(seconds: 30)
        #expect(link.rates.last == 2_500_000)
        link.detour = 0
        link.run(seconds: 10)
        #expect(link.rates.last == 2_500_000)
        link.capacity = 500_000
        link.run(seconds: 5)
        #expect((250_000...550_000).contains(link.rates.last ?? 0))
    }

    @Test("Random loss on the path does not reduce the rate", arguments: [0.01, 0.05])
    func ownLoss(part: Double) throws {
        var link = try link(5_000_000, start: 2_000_000)
        link.loss = part
        link.run(seconds: 60)
        #expect((link.rates.min() ?? 0) > 1_000_000)
    }

    @Test("Heavy loss reduces it")
    func heavyLoss() throws {
        var link = try link(5_000_000)
        link.loss = 0.3
        link.run(seconds: 20)
        #expect((link.rates.last ?? .max) < 500_000)
    }

    @Test("One report of packets that were briefly delayed changes nothing")
    func hiccup() throws {
        var link = try link(5_000_000)
        link.run(seconds: 5)
        link.detour = 0.15
        link.run(seconds: 0.05)
        link.detour = 0
        link.run(seconds: 1)
        #expect(link.rates.min() == 2_500_000)
        #expect(link.pauses == 0)
    }

    @Test("Easy pictures do not hold the rate for ever, and do not let it jump")
    func easy() throws {
        var link = try link(5_000_000, start: 400_000)
        link.use = 0.25
        link.run(seconds: 1)
        #expect((link.rates.last ?? .max) < 460_000)
        link.run(seconds: 30)
        #expect(link.rates.last == 2_500_000)
    }

    @Test("Without reports nothing changes, and without times only loss decides")
    func reports() throws {
        var controller = try DelayController()
        for second in 0..<10 {
            #expect(controller.decide(at: .init(nanoseconds: Int64(second) * 1_000_000_000)) == 1_000_000)
        }
        for second in 10..<20 {
            let now = MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)
            controller.add(PathReport(time: now, expected: 100, lost: 50))
            _ = controller.decide(at: now)
        }
        #expect(controller.bitrate < 200_000)
        #expect(controller.bitrate >= controller.settings.minimum)
    }

    @Test("Contradictory settings are refused")
    func settings() {
        var settings = DelayController.Settings()
        settings.start = settings.maximum + 1
        #expect(throws: InletError.self) { try DelayController(settings) }
        settings = DelayController.Settings()
        settings.decrease = 1
        #expect(throws: InletError.self) { try DelayController(settings) }
        settings = DelayController.Settings()
        settings.longQueue = .milliseconds(1)
        #expect(throws: InletError.self) { try DelayController(settings) }
    }
}
