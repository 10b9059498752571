import InletCore
import Testing

/// The effect of events on a deadline, in a table.
@Suite struct OperationLimitsTests {
    enum Step: CustomTestStringConvertible {
        /// An operation with a total limit, which no data extends.
        case begin(Int)
        /// The wait for a frame: ten seconds without data, thirty in total.
        case awaitFrame
        case time(Int), data, sleep(Int), demand(Rational?), suspend, resume, end

        var testDescription: String { "\(self)" }
    }

    struct Row: CustomTestStringConvertible {
        var steps: [Step]
        /// Seconds from the start; nil for no deadline.
        var deadline: Int64?
        var quietSince: Int64?
        var testDescription: String { "\(steps)" }

        init(_ steps: [Step], deadline: Int64?, quietSince: Int64?) {
            (self.steps, self.deadline, self.quietSince) = (steps, deadline, quietSince)
        }
    }

    static let slow = Rational(1, 20)

    static let table: [Row] = [
        Row([], deadline: nil, quietSince: nil),
        Row([.begin(5)], deadline: 5, quietSince: 0),
        Row([.begin(5), .time(2), .data], deadline: 5, quietSince: 2),
        Row([.begin(5), .demand(slow)], deadline: 5, quietSince: 0),
        Row([.begin(5), .end], deadline: nil, quietSince: nil),
        Row([.begin(5), .end, .data], deadline: nil, quietSince: nil),
        Row([.begin(5), .end, .sleep(3)], deadline: nil, quietSince: nil),
        Row([.begin(5), .end, .resume], deadline: nil, quietSince: nil),
        Row([.awaitFrame], deadline: 10, quietSince: 0),
        Row([.awaitFrame, .time(9), .data], deadline: 19, quietSince: 9),
        Row([.awaitFrame, .time(9), .data, .time(9), .data], deadline: 28, quietSince: 18),
        // The same for any amount of data.
        Row([.awaitFrame, .time(9), .data, .time(9), .data, .time(9), .data], deadline: 30, quietSince: 27),
        Row([.awaitFrame, .time(5), .sleep(100)], deadline: 110, quietSince: 100),
        Row([.awaitFrame, .sleep(100), .time(125), .data], deadline: 130, quietSince: 125),
        // At one frame in twenty seconds, three may be missing.
        Row([.demand(slow), .awaitFrame, .time(27), .data], deadline: 37, quietSince: 27),
        Row([.demand(slow), .awaitFrame, .time(58), .data], deadline: 60, quietSince: 58),
        Row([.demand(Rational(30)), .awaitFrame, .time(27), .data], deadline: 30, quietSince: 27),
        Row([.demand(slow), .demand(nil), .awaitFrame, .time(27), .data], deadline: 30, quietSince: 27),
        // The present demand is recent.
        Row([.demand(slow), .awaitFrame, .time(50), .data, .demand(nil)], deadline: 60, quietSince: 50),
        Row(
            [.demand(slow), .awaitFrame, .time(50), .data, .demand(nil), .time(29), .data], deadline: 80,
            quietSince: 79),
        Row([.awaitFrame, .suspend], deadline: nil, quietSince: nil),
        Row([.awaitFrame, .suspend, .time(60), .data], deadline: nil, quietSince: nil),
        Row([.awaitFrame, .suspend, .time(60), .resume], deadline: 70, quietSince: 60),
        Row([.awaitFrame, .suspend, .end, .resume], deadline: nil, quietSince: nil),
    ]

    @Test(
        "Data extends the silence limit, sleep and demand extend theirs, and the total has an end",
        arguments: table)
    func row(_ row: Row) {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        var limits = OperationLimits()
        var now = start
        for step in row.steps {
            switch step {
            case .begin(let seconds):
                let time = Duration.seconds(seconds)
                limits.begin(OperationLimits.Allowance(silence: time, total: time), at: now)
            case .awaitFrame:
                limits.begin(
                    OperationLimits.Allowance(silence: .seconds(10), total: .seconds(30), followsDemand: true), at: now)
            case .time(let seconds): now = now + .seconds(seconds)
            case .data: limits.noteProgress(at: now)
            case .sleep(let seconds): limits.postpone(by: .seconds(seconds))
            case .demand(let rate): limits.follow(rate, at: now)
            case .suspend: limits.suspend()
            case .resume: limits.resume(at: now)
            case .end: limits.end()
            }
        }
        let deadline = limits.deadline
        #expect((deadline == .distantFuture ? nil : deadline) == row.deadline.map { start + .seconds($0) })
        #expect(limits.quietSince == row.quietSince.map { start + .seconds($0) })
    }

    @Test("Infinite limits and rates near zero do not overflow")
    func extremes() {
        var limits = OperationLimits()
        limits.follow(Rational(1, Int(Int32.max)), at: .distantFuture)
        let endless = Duration.seconds(Int64.max)
        limits.begin(
            OperationLimits.Allowance(silence: endless, total: endless, followsDemand: true), at: .distantFuture)
        limits.postpone(by: endless)
        #expect(limits.deadline == .distantFuture)
    }
}
