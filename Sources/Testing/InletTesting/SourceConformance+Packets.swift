import InletCore

extension SourceConformance {
    /// Checks that a source of packets yields some if they are wanted, and that they keep the rules of packets.
    func checkPackets(_ configuration: any FrameSourceConfiguration, _ violations: inout [Violation]) async {
        let runner = SourceRunner(configuration, limit: callLimit)
        var demand = SourceDemand.everything
        demand.packets = true
        runner.context.setDemand(demand)
        guard case .returned = await runner.open() else {
            _ = await runner.close()
            violations.append(Violation("packets", "a source does not open if packets are wanted"))
            return
        }
        var rules = PacketRules()
        var count = 0
        reading: for _ in 0..<max(1, frames) * 2 {
            switch await runner.next() {
            case .hung:
                violations.append(Violation("progress", "next did not return within \(callLimit)"))
                return
            case .threw(let error, _):
                violations.append(Violation("packets", "next threw although packets are wanted: \(error)"))
                break reading
            case .returned(nil): break reading
            case .returned(.frame?): continue
            case .returned(.packet(let packet)?):
                violations += rules.check(packet)
                count += 1
            }
        }
        if count == 0 {
            violations.append(Violation("packets", "the format promises packets, but none came when requested"))
        }
        _ = await runner.close()
    }
}

/// The rules that successive packets of one source keep.
struct PacketRules {
    private var count = 0
    private var previous: MediaTime?

    /// Checks one packet against the previous ones.
    mutating func check(_ packet: SourcePacket) -> [Violation] {
        defer {
            previous = packet.dts ?? previous
            count += 1
        }
        var violations: [Violation] = []
        func add(_ rule: String, _ explanation: String) {
            violations.append(Violation(rule, "packet \(count): \(explanation)"))
        }
        if packet.data.count == 0 { add("packets", "it has no data") }
        if count == 0, !packet.isKey { add("packets", "the first packet is not a key frame") }
        if (packet.pts == nil) != (packet.dts == nil) { add("dts", "it has only one of PTS and DTS") }
        if let pts = packet.pts, let dts = packet.dts {
            if pts.timeBase != packet.parameters.timeBase || dts.timeBase != packet.parameters.timeBase {
                add("timeBase", "its times are not in the time base of its parameters, \(packet.parameters.timeBase)")
            }
            if pts < dts { add("dts", "it is shown at \(pts) and decoded later, at \(dts)") }
            if let previous, dts <= previous, !packet.flags.contains(.discontinuity) {
                add("dts", "the DTS \(dts) follows \(previous) without a discontinuity flag")
            }
        }
        if !packet.parameters.size.isValid { add("packets", "its parameters have a size of \(packet.parameters.size)") }
        return violations
    }
}
