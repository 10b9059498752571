import InletCore

@testable import InletCapture

extension FaultSimulation {
    mutating func addSink() {
        let policies: [QueuePolicy] = [
            .latest, .buffered(3, dropping: .oldest), .buffered(3, dropping: .newest), .lossless(4),
        ]
        let policy = policies.randomElement(using: &random) ?? .latest
        var isLossless = false
        if case .lossless = policy { isLossless = true }
        sinks.append(
            Sink(
                mailbox: MailboxStateMachine(policy: policy), capacity: policy.capacity, isLossless: isLossless,
                delay: milliseconds(isLossless ? 0...20 : 0...400),
                throwsAfter: Int.random(in: 0...3, using: &random) == 0 ? Int.random(in: 0...50, using: &random) : nil)
        )
    }

    /// Offers the current frame to the sinks that have not received it, until one has no room.
    mutating func offerPending() throws {
        guard let id = session?.id else { return }
        while let (time, waiting) = pending, let index = waiting.first {
            switch sinks[index].mailbox.put(time) {
            case .stored(let wake, let dropped, _):
                if dropped != nil { sinks[index].dropped += 1 }
                if wake { plan(.consumed(index), after: .zero) }
            case .refused: sinks[index].dropped += 1
            case .full:
                guard sinks[index].isLossless else { throw broken("a sink that is not lossless makes the source wait") }
                session?.mode = .blocked(on: index)
                return
            }
            pending?.sinks.removeFirst()
        }
        pending = nil
        try readNext(id)
    }

    mutating func consumed(_ index: Int) throws {
        switch sinks[index].mailbox.take() {
        case .element(let time, let wakeProducer):
            if let last = sinks[index].last, time <= last {
                throw broken("timestamps of sink \(index) went from \(last) to \(time)")
            }
            sinks[index].last = time
            if sinks[index].throwsAfter == sinks[index].delivered {
                sinks[index].dropped += 1
                try detach(index)
            } else {
                sinks[index].delivered += 1
                plan(.consumed(index), after: sinks[index].delay)
            }
            if wakeProducer { try unblock(index) }
        case .empty, .finished: break
        }
    }

    mutating func unblock(_ index: Int) throws {
        guard case .blocked(on: index)? = session?.mode else { return }
        if session?.isCancelled == true {
            pending = nil
        } else {
            try offerPending()
        }
    }

    mutating func detach(_ index: Int) throws {
        guard sinks[index].isAttached else { return }
        sinks[index].isAttached = false
        let end = sinks[index].mailbox.close()
        sinks[index].dropped += end.dropped.count
        if end.wakeProducer { try unblock(index) }
    }

    mutating func user(_ act: UserAct) throws {
        guard !isCalm else { return }
        switch act {
        case .pause: try handle(.pause)
        case .resume: try handle(.resume)
        case .disable: try handle(.setEnabled(false))
        case .enable: try handle(.setEnabled(true))
        case .attach: if sinks.count < 6 { addSink() }
        case .detach: if let index = sinks.indices.randomElement(using: &random) { try detach(index) }
        case .stop where Int.random(in: 0...3, using: &random) == 0:
            try handle(.stop(.cancelled))
            stoppedAt = now
        case .stop: break
        }
    }
}
