import InletCore
import InletRTP
import Testing

@Suite struct RTCPScheduleTests {
    private static func time(_ seconds: Double) -> MonotonicTime { PacketScript.time(Int64(seconds * 1000)) }

    @Test("The first report is due after 2.5 seconds, further ones every 5 seconds")
    func reports() {
        var schedule = RTCPSchedule(start: Self.time(0))
        for due in [2.5, 7.5, 12.5] {
            #expect(schedule.deadline == Self.time(due))
            #expect(schedule.take(at: Self.time(due - 0.001)) == (false, false))
            #expect(schedule.take(at: Self.time(due + 0.01)) == (true, false))
        }
    }

    @Test("Missed reports are not sent later")
    func missed() {
        var schedule = RTCPSchedule(start: Self.time(0))
        #expect(schedule.take(at: Self.time(60)).isReportDue)
        #expect(!schedule.take(at: Self.time(60)).isReportDue)
        #expect(schedule.deadline == Self.time(65))
    }

    @Test("A key frame is requested at once, the next one no sooner than a second later")
    func keyFrames() {
        var schedule = RTCPSchedule(start: Self.time(0))
        schedule.needKeyFrame()
        #expect(schedule.deadline < Self.time(0))
        #expect(schedule.take(at: Self.time(0.1)) == (false, true))
        #expect(schedule.take(at: Self.time(0.1)) == (false, false))
        schedule.needKeyFrame()
        #expect(schedule.deadline == Self.time(1.1))
        #expect(schedule.take(at: Self.time(1)) == (false, false))
        #expect(schedule.take(at: Self.time(1.1)) == (false, true))
        #expect(schedule.deadline == Self.time(2.5))
        #expect(schedule.take(at: Self.time(2.5)) == (true, false))
        schedule.needKeyFrame()
        #expect(schedule.take(at: Self.time(3)) == (false, true))
    }

    @Test("A regular key frame makes a request unnecessary")
    func noNeed() {
        var schedule = RTCPSchedule(start: Self.time(0))
        schedule.needKeyFrame()
        schedule.noteKeyFrame()
        #expect(schedule.take(at: Self.time(0.1)) == (false, false))
    }
}
