import InletCore
import Testing

@testable import InletRTC

@Suite struct LossStepperTests {
    static func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    /// Returns the rate after each second, with a report of 100 packets half a second before it.
    static func rates(_ losses: [Int], _ settings: LossStepper.Settings = .init()) throws -> [Int] {
        var stepper = try LossStepper(settings)
        _ = stepper.decide(at: at(0))
        return losses.enumerated().map { index, lost in
            stepper.add(PathReport(time: at(Double(index) + 0.5), expected: 100, lost: lost))
            return stepper.decide(at: at(Double(index + 1)))
        }
    }

    @Test(
        "Every five seconds a step up for 1 % and less, a step down for 5 % and more, and no step between",
        arguments: [(0, 1_150_000), (1, 1_150_000), (2, 1_000_000), (4, 1_000_000), (5, 850_000), (9, 850_000)])
    func steps(_ lost: Int, _ after: Int) throws {
        let rates = try Self.rates(Array(repeating: lost, count: 5))
        #expect(rates == [1_000_000, 1_000_000, 1_000_000, 1_000_000, after])
    }

    @Test("At 10 % and more, a step down by a quarter each second")
    func critical() throws {
        #expect(try Self.rates([0, 10, 11, 9]) == [1_000_000, 750_000, 562_500, 562_500])
    }

    /// Losses out of 1000 packets per second: at, just below and just above each threshold.
    @Test(
        "A threshold belongs to the step that begins there",
        arguments: [
            (10, 1_150_000), (11, 1_000_000), (49, 1_000_000), (50, 850_000), (99, 850_000), (100, 237_305),
        ])
    func thresholds(_ lost: Int, _ after: Int) throws {
        var stepper = try LossStepper()
        _ = stepper.decide(at: Self.at(0))
        for second in 0..<5 {
            stepper.add(PathReport(time: Self.at(Double(second) + 0.5), expected: 1000, lost: lost))
            _ = stepper.decide(at: Self.at(Double(second + 1)))
        }
        #expect(stepper.bitrate == after)
    }

    @Test("The defaults match the published ones")
    func defaults() {
        let settings = LossStepper.Settings()
        #expect([settings.minimum, settings.start, settings.maximum] == [100_000, 1_000_000, 6_000_000])
        #expect([settings.stepUp, settings.stepDown, settings.criticalStep] == [0.15, 0.15, 0.25])
        #expect([settings.lowLoss, settings.highLoss, settings.criticalLoss] == [0.01, 0.05, 0.1])
        #expect(
            [settings.interval, settings.window, settings.criticalInterval] == [.seconds(5), .seconds(10), .seconds(1)])
    }

    @Test("A single bad report among good ones is judged by the last ten seconds")
    func window() throws {
        // 8 of 500 is between the thresholds. After ten seconds, 8 of 1000 is below the lower one.
        #expect(
            try Self.rates([8] + Array(repeating: 0, count: 9)).suffix(6) == [
                1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_150_000,
            ])
    }

    @Test("Loss from before a step down is not counted again after it")
    func forgets() throws {
        let rates = try Self.rates([0, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0])
        #expect(rates[4] == 750_000)
        #expect(rates[9] == 862_500, "five clean seconds after it: a step up")
    }

    @Test("The rate stays between its limits for ever")
    func limits() throws {
        #expect(try Self.rates(Array(repeating: 0, count: 200)).last == 6_000_000)
        #expect(try Self.rates(Array(repeating: 50, count: 200)).last == 100_000)
    }

    @Test("Too few packets give no information, and without reports nothing changes")
    func silence() throws {
        var stepper = try LossStepper()
        for second in 0...60 {
            if second % 12 == 0 { stepper.add(PathReport(time: Self.at(Double(second)), expected: 5, lost: 5)) }
            #expect(stepper.decide(at: Self.at(Double(second))) == 1_000_000)
        }
    }

    @Test("Impossible reports are left out")
    func nonsense() throws {
        var stepper = try LossStepper()
        _ = stepper.decide(at: Self.at(0))
        stepper.add(PathReport(time: Self.at(0.5), expected: -100, lost: 1))
        stepper.add(PathReport(time: Self.at(0.5), expected: 100, lost: .max))
        stepper.add(PathReport(time: Self.at(0.1), expected: 1_000_000, lost: 0))
        #expect(stepper.decide(at: Self.at(1)) == 750_000)
    }

    @Test("Contradictory settings are refused")
    func knobs() {
        let changes: [(inout LossStepper.Settings) -> Void] = [
            { $0.minimum = 0 }, { $0.start = 1 }, { $0.maximum = 1 }, { $0.lowLoss = 0.2 }, { $0.lowLoss = 0.05 },
            { $0.criticalLoss = 2 },
            { $0.stepUp = 0 },
            { $0.stepDown = 1 }, { $0.criticalStep = 0 }, { $0.interval = .zero }, { $0.window = .seconds(1) },
            { $0.fewestPackets = 0 },
        ]
        for change in changes {
            var settings = LossStepper.Settings()
            change(&settings)
            #expect(throws: InletError.self) { try LossStepper(settings) }
        }
    }

    @Test("On a path of 600 kbit/s the rate settles at a low loss")
    func settles() throws {
        var stepper = try LossStepper()
        var high = 0
        for tick in 1...600 {
            let rate = Double(stepper.bitrate)
            let lost = max(0, Int((1 - 600_000 / rate) * 100))
            stepper.add(PathReport(time: Self.at(Double(tick)), expected: 100, lost: lost))
            let next = stepper.decide(at: Self.at(Double(tick)))
            if tick > 30 { high = max(high, next) }
        }
        #expect((450_000...700_000).contains(stepper.bitrate))
        #expect(high <= 720_000)
    }
}
