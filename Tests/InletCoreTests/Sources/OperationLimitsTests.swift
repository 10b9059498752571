import InletCore
import Testing

/// What becomes of a deadline, in a table.
@Suite struct OperationLimitsTests {
    enum Step: CustomTestStringConvertible {
        /// An operation with a limit in all, which no data puts off.
        case begin(Int)
        /// The wait for a frame: ten seconds without data, thirty in all.
        case awaitFrame
        case time(Int), data, sleep(Int), demand(Rational?), suspend, resume, end

        var testDescription: String { "\(self)" }
    }

    struct Row: CustomTestStringConvertible {
        var steps: [Step]
        /// Seconds from the start; nil where there is none.
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
        // However much data comes.
        Row([.awaitFrame, .time(9), .data, .time(9), .data, .time(9), .data], deadline: 30, quietSince: 27),
        Row([.awaitFrame, .time(5), .sleep(100)], deadline: 110, quietSince: 100),
        Row([.awaitFrame, .sleep(100), .time(125), .data], deadline: 130, quietSince: 125),
        // Of one frame in twenty seconds three may be missing.
        Row([.demand(slow), .awaitFrame, .time(27), .data], deadline: 37, quietSince: 27),
        Row([.demand(slow), .awaitFrame, .time(58), .data], deadline: 60, quietSince: 58),
        Row([.demand(Rational(30)), .awaitFrame, .time(27), .data], deadline: 30, quietSince: 27),
        Row([.demand(slow), .demand(nil), .awaitFrame, .time(27), .data], deadline: 30, quietSince: 27),
        // What is wanted now has not been wanted for long.
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
        "Data puts off the end of silence, sleep and demand put off what they are about, and the whole has an end",
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

    @Test("Limits without an end and rates near zero overflow nothing")
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
