import InletCore
import InletRTC
import InletTesting

/// One run of ``SignalingConformance``: two members of a room, then a third, and the messages between them.
struct SignalingRun {
    private let rules: SignalingConformance
    private let make: SignalingConformance.Maker
    private let first: SignalingMember
    private let names: [PeerID]
    private var limit: Duration { rules.limit }
    /// The waits for messages that must not come are short, because they always take the full time.
    private static let quiet = Duration.milliseconds(300)

    init(_ rules: SignalingConformance, _ make: @escaping SignalingConformance.Maker) async throws {
        self.rules = rules
        self.make = make
        // New names, because a service may remember earlier checks.
        let run = SignalingInstance()
        names = try ["ann", "ben", "cy"].map { name throws(InletError) in try PeerID("\(name)-\(run)") }
        first = SignalingMember(try await make(names[0], SignalingInstance()))
    }

    func checkAll(_ violations: inout [Violation]) async {
        guard await opens(first, &violations) else { return }
        await checkErrors(&violations)
        do {
            // Messages to a peer that is not yet present wait for it.
            let early = try LoggedChannel(first, to: names[1])
            if rules.hasPresence {
                for message in Self.flow("early", 3) { try await early.channel.send(message) }
            }
            let second = SignalingMember(try await make(names[1], SignalingInstance()))
            guard await opens(second, &violations) else { return }
            let third = SignalingMember(try await make(names[2], SignalingInstance()))
            guard await opens(third, &violations) else { return }
            if rules.hasPresence {
                for other in [second, third] where !(await first.sees(other.id, within: limit)) {
                    violations.append(Violation("opening", "\(first.id) does not learn that \(other.id) has joined"))
                }
                for other in [first, third] where !(await second.sees(other.id, within: limit)) {
                    violations.append(Violation("opening", "\(second.id) does not learn that \(other.id) is present"))
                }
            }
            let answering = try await checkEitherFirst(second, early, &violations)
            try await checkDelivery(early, answering, &violations)
            try await checkRouting(third, early, answering, &violations)
            await checkCalls(second, &violations)
            let replaced = try await checkReplacement(second, early, answering, &violations)
            try await checkGrowth(second, replaced, &violations)
            try await checkReset(second, third, &violations)
            await third.service.close()
        } catch {
            violations.append(Violation("errors", "a call that must succeed threw \(error)"))
        }
        await first.service.close()
    }

    private func opens(_ member: SignalingMember, _ violations: inout [Violation]) async -> Bool {
        let isTold = await member.hears(limit) { if case .opened = $0 { true } else { false } }
        if !isTold || !member.service.isOpen {
            violations.append(Violation("opening", "\(member.id) is not open within \(limit)"))
            return false
        }
        return true
    }

    private static func flow(_ name: String, _ count: Int) -> [SignalingMessage] {
        let flow = SignalingFlow(name)
        return [.description(SessionDescription(kind: .offer, sdp: "v=0\r\n\"\\\u{e9}\r\n", flow: flow))]
            + (0..<count).map { .candidate(ICECandidate(line: "candidate:\($0)", section: $0, flow: flow)) }
    }

    private func checkErrors(_ violations: inout [Violation]) async {
        do throws(InletError) {
            _ = try first.service.channel(to: first.id)
            violations.append(Violation("errors", "a channel to one's own name is returned"))
        } catch {
            if error.code != .invalidConfiguration {
                violations.append(Violation("errors", "a channel to one's own name throws \(error.code)"))
            }
        }
        guard rules.hasPresence else { return }
        do throws(SignalingFailure) {
            try await first.service.send(CallMessage(CallID(), .invite), to: names[2])
            violations.append(Violation("errors", "a call to an absent peer is sent without an error"))
        } catch {
            if error.error.code != .notFound {
                violations.append(Violation("errors", "a call to an absent peer throws \(error.error.code)"))
            }
        }
    }

    private func checkEitherFirst(
        _ second: SignalingMember, _ early: LoggedChannel, _ violations: inout [Violation]
    ) async throws -> LoggedChannel {
        if !rules.hasPresence {
            for message in Self.flow("early", 3) { try await early.channel.send(message) }
        }
        let caller = first.id
        guard
            await second.hears(
                limit, { if case .sessionRequested(by: let peer) = $0 { peer == caller } else { false } })
        else {
            violations.append(Violation("eitherFirst", "an offer without a channel is not reported"))
            return try LoggedChannel(second, to: first.id)
        }
        let answering = try LoggedChannel(second, to: first.id)
        // Messages sent while the peer joins may arrive twice.
        let early = Set(Self.flow("early", 3))
        if !(await answering.log.waits(limit) { messages, _ in Set(messages) == early }) {
            let came = answering.log.elements
            violations.append(
                Violation("eitherFirst", "the messages before the channel differ from those that arrived: \(came)"))
        }
        return answering
    }

    private func checkDelivery(
        _ offering: LoggedChannel, _ answering: LoggedChannel, _ violations: inout [Violation]
    ) async throws {
        let answers = Self.flow("back", 20)
        for message in answers { try await answering.channel.send(message) }
        if !(await offering.gets(answers, within: limit)) {
            let came = offering.log.elements.count
            violations.append(Violation("delivery", "\(came) of \(answers.count) messages arrived, or out of order"))
        }
    }

    private func checkRouting(
        _ third: SignalingMember, _ offering: LoggedChannel, _ answering: LoggedChannel,
        _ violations: inout [Violation]
    ) async throws {
        let (toFirst, fromFirst) = (try LoggedChannel(third, to: first.id), try LoggedChannel(third, to: names[1]))
        let before = (offering.log.elements.count, answering.log.elements.count)
        try await answering.channel.send(.bye(SignalingFlow("routed")))
        if !(await offering.log.waits(limit) { messages, _ in messages.count > before.0 }) {
            violations.append(Violation("routing", "a message does not arrive while the room has three members"))
        }
        // A misrouted message would have arrived by now: it had the same way as the message that arrived.
        if await toFirst.log.waits(Self.quiet, until: { messages, _ in !messages.isEmpty })
            || !fromFirst.log.elements.isEmpty
        {
            violations.append(Violation("routing", "a member receives a message for another"))
        }
        await toFirst.channel.close()
        await fromFirst.channel.close()
    }

    private func checkCalls(_ second: SignalingMember, _ violations: inout [Violation]) async {
        let call = CallID()
        let contents: [CallMessage.Content] = [
            .invite, .ringing, .accept, .decline(reason: "later \"please\""), .busy(retryAfter: .seconds(30)),
            .busy(retryAfter: nil), .decline(reason: nil), .cancel, .hangUp,
        ]
        do throws(SignalingFailure) {
            for content in contents { try await first.service.send(CallMessage(call, content), to: second.id) }
        } catch { violations.append(Violation("calls", "a call to a present peer throws \(error.error)")) }
        let caller = first.id
        let expected = contents.map { CallMessage(call, $0) }
        let heard: @Sendable ([SignalingEvent]) -> [CallMessage] = { events in
            events.compactMap { if case .call(let message, caller) = $0 { message } else { nil } }
        }
        let isComplete = await second.events.waits(limit) { events, _ in heard(events).count >= expected.count }
        if !isComplete || heard(second.events.elements) != expected {
            violations.append(Violation("calls", "messages about a call arrived as \(heard(second.events.elements))"))
        }
    }

    private func checkReplacement(
        _ second: SignalingMember, _ offering: LoggedChannel, _ answering: LoggedChannel,
        _ violations: inout [Violation]
    ) async throws -> LoggedChannel {
        let next = try LoggedChannel(second, to: first.id)
        if !(await answering.log.waits(limit) { _, hasEnded in hasEnded }) {
            violations.append(Violation("replacement", "the earlier channel to a peer does not end"))
        }
        let messages = Self.flow("next", 2)
        for message in messages { try await offering.channel.send(message) }
        if !(await next.gets(messages, within: limit)) {
            violations.append(Violation("replacement", "the channel that replaced it receives \(next.log.elements)"))
        }
        do throws(SignalingFailure) {
            try await answering.channel.send(.bye(nil))
            violations.append(Violation("replacement", "a channel that has ended sends without an error"))
        } catch {
            if error.error.code != .cancelled {
                violations.append(Violation("replacement", "a channel that has ended throws \(error.error.code)"))
            }
        }
        return next
    }

    /// Checks that unread messages are bounded, on a channel and before there is one.
    private func checkGrowth(
        _ second: SignalingMember, _ channel: LoggedChannel, _ violations: inout [Violation]
    ) async throws {
        await channel.channel.close()
        let offering = try first.service.channel(to: second.id)
        let count = 1500
        for number in 0..<count {
            // A message that is refused, because too many wait, does not use memory either.
            try? await offering.send(
                .candidate(ICECandidate(line: "candidate:\(number)", section: 0, flow: SignalingFlow("flood"))))
        }
        // A message about a call marks the end of the flood.
        let call = CallID()
        for _ in 0..<5 {
            try? await first.service.send(CallMessage(call, .ringing), to: second.id)
            let isThrough = await second.hears(limit) { event in
                if case .call(let said, _) = event { said.call == call } else { false }
            }
            if isThrough { break }
        }
        let unread = try LoggedChannel(second, to: first.id)
        _ = await unread.log.waits(Self.quiet) { messages, _ in messages.count >= count }
        if unread.log.elements.count >= count {
            violations.append(Violation("growth", "all of \(count) unread messages were kept"))
        }
        await unread.channel.close()
    }

    private func checkReset(
        _ second: SignalingMember, _ third: SignalingMember, _ violations: inout [Violation]
    ) async throws {
        let old = try LoggedChannel(first, to: second.id)
        let seen = first.events.elements.count
        if let cut = rules.cut {
            await cut(second.service)
        } else {
            await checkClose(second, &violations)
        }
        let id = second.id
        if rules.hasPresence {
            let isNoticed = await first.events.waits(limit) { events, _ in
                events.dropFirst(seen).contains { event in
                    switch event {
                    case .left(let peer), .reset(let peer): peer == id
                    default: false
                    }
                }
            }
            if !isNoticed {
                let rule = rules.cut == nil ? "close" : "liveness"
                violations.append(Violation(rule, "\(first.id) receives no event that \(id) has left"))
            }
        }
        if rules.cut != nil { await checkClose(second, &violations) }
        let anew = SignalingMember(try await make(id, SignalingInstance()))
        guard await opens(anew, &violations) else { return }
        let back = try LoggedChannel(anew, to: first.id)
        let messages = Self.flow("anew", 2)
        for message in messages { try await back.channel.send(message) }
        guard rules.tellsReset else { return await anew.service.close() }
        if !(await old.log.waits(limit) { _, hasEnded in hasEnded }) {
            violations.append(Violation("reset", "the channel to a peer that has restarted does not end"))
        }
        let isTold = await first.events.waits(limit) { events, _ in
            events.dropFirst(seen).contains { event in
                switch event {
                case .reset(let peer), .joined(let peer): peer == id
                default: false
                }
            }
        }
        if !isTold { violations.append(Violation("reset", "\(first.id) receives no event that \(id) is back")) }
        let new = try LoggedChannel(first, to: id)
        if !(await new.gets(messages, within: limit)) {
            violations.append(Violation("reset", "the messages of the restarted peer arrived as \(new.log.elements)"))
        }
        await anew.service.close()
    }

    private func checkClose(_ member: SignalingMember, _ violations: inout [Violation]) async {
        let channel = try? LoggedChannel(member, to: names[2])
        await member.service.close()
        await member.service.close()
        if member.service.isOpen { violations.append(Violation("close", "a closed service is open")) }
        let ends = await member.events.waits(limit) { _, hasEnded in hasEnded }
        guard ends, case .closed(nil)? = member.events.elements.last else {
            violations.append(Violation("close", "the events do not end with closed, without an error"))
            return
        }
        if let channel, !(await channel.log.waits(limit) { _, hasEnded in hasEnded }) {
            violations.append(Violation("close", "a channel does not end when its service is closed"))
        }
        do throws(InletError) {
            _ = try member.service.channel(to: first.id)
            violations.append(Violation("close", "a closed service returns a channel"))
        } catch {
            if error.code != .cancelled {
                violations.append(Violation("close", "a closed service throws \(error.code)"))
            }
        }
    }
}
