import InletCore
import InletRTP

// Reports of a sender: compound packets of RTCP, the wall clock, the schedule of the receiver's own reports.
//
// Input: a number for the clock's rate, then packets: a byte that selects an event before the packet, the length, and
// the bytes.

private struct Receiver {
    var clock: WallClock
    var schedule: RTCPSchedule
    var writer = RTCPWriter(ssrc: 0x0102_0304, name: Array("fuzz".utf8))
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// The machine's time of day.
    var host: Int64 = 1_760_000_000_000_000_000
    let ssrc: UInt32 = 7

    mutating func take(_ packet: [UInt8]) {
        var reports: [SenderReport] = []
        var items = 0
        let isControl = unsafe RTCP.isControl(packet.span.bytes)
        let isValid = unsafe RTCP.read(packet.span.bytes) { item in
            items += 1
            if case .senderReport(let report) = item { reports.append(report) }
        }
        demand(items <= packet.count / 4, "\(items) parts in \(packet.count) bytes")
        demand(!isValid || !packet.isEmpty && packet.count.isMultiple(of: 4), "valid with \(packet.count) bytes")
        demand(isControl || packet.count < 4 || packet[0] >> 6 != 2 || !(200...204).contains(packet[1]), "no RTCP")
        for report in reports {
            clock.note(report, of: ssrc, host: host)
            checkTime(report.time)
            answer(report)
        }
    }

    /// An NTP time is ambiguous. The interpretation nearest to the machine's time counts, which is within 68 years.
    private func checkTime(_ time: NTPTime) {
        let distance = time.nanoseconds(near: host).subtractingReportingOverflow(host)
        guard !distance.overflow, host.magnitude < 4_000_000_000_000_000_000 else { return }
        demand(distance.partialValue.magnitude <= 2_147_483_649_000_000_000, "\(distance.partialValue) ns away")
    }

    /// A sent report is a compound packet that can be parsed again.
    private mutating func answer(_ sender: SenderReport) {
        var report = ReceptionReport(ssrc: sender.ssrc)
        report.lost = Int32(bitPattern: sender.packets)
        report.lastSenderReport = sender.shortNTPTime
        report.delay = ReceptionReport.delay(from: now, to: now + .nanoseconds(Int64(sender.timestamp) << 20))
        var packet: [UInt8] = []
        writer.append(report: report, requests: [.pictureLoss, .fullIntra], to: sender.ssrc, into: &packet)
        var items = 0
        let isValid = unsafe RTCP.read(packet.span.bytes) { _ in items += 1 }
        demand(isValid && items == 4, "writes \(items) parts")
    }

    mutating func waitForDeadline() {
        now = max(now, schedule.deadline)
        let due = schedule.take(at: now)
        demand(due.isReportDue || due.isKeyFrameRequestDue, "nothing is due at the deadline")
        demand(schedule.deadline > now, "the deadline does not advance")
    }
}

/// Reads one input. Called by libFuzzer.
@c(LLVMFuzzerTestOneInput)
public func fuzzControl(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let rate = Int(Int32(bitPattern: input.number32()))
    var receiver = Receiver(
        clock: WallClock(clockRate: rate),
        schedule: RTCPSchedule(
            start: MonotonicTime(nanoseconds: 1_000_000_000), interval: .milliseconds(input.number16())))
    while !input.isAtEnd {
        let before = input.byte()
        switch before & 7 {
        case 1: receiver.waitForDeadline()
        case 2: receiver.schedule.needKeyFrame()
        case 3: _ = receiver.clock.time(of: input.number32())
        case 4: receiver.clock.notePlay(Int64(input.number32()) << 32, at: input.number32(), host: receiver.host)
        case 5: receiver.host = Int64(bitPattern: UInt64(input.number32()) << 32 | UInt64(input.number32()))
        case 6: replay(&input, &receiver)
        case 7: receiver.clock.reset()
        default: break
        }
        receiver.take(input.piece(Int(input.byte()) * (before & 0x80 == 0 ? 1 : 4)))
        _ = receiver.clock.time(of: input.number32())
    }
    receiver.waitForDeadline()
    return 0
}

/// Records the time in a packet's header extension.
private func replay(_ input: inout FuzzInput, _ receiver: inout Receiver) {
    let packet = input.piece(28)
    guard let header = unsafe RTPHeader(packet.span.bytes) else { return }
    guard let replay = unsafe ONVIFReplayExtension(header, of: packet.span.bytes) else { return }
    receiver.clock.note(replay.time, at: header.timestamp, host: receiver.host)
}
