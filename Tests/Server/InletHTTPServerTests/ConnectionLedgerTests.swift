import InletHTTPServer
import Testing

@Suite struct ConnectionLedgerTests {
    private static let (near, far) = (ClientAddress.ipv4(1), ClientAddress.ipv4(2))

    /// - Returns: the connections that were admitted without another giving way.
    private static func fill(
        _ ledger: inout ConnectionLedger, _ count: Int, _ client: ClientAddress, isKnown: Bool = false
    ) -> [ConnectionLedger.ID] {
        (0..<count).compactMap { _ in
            guard case .admitted(let id) = ledger.admit(client, isKnown: isKnown) else { return nil }
            return id
        }
    }

    @Test("If there is room, every connection is admitted")
    func room() {
        var ledger = ConnectionLedger(maximum: 4, strangersPerClient: 4)
        let ids = Self.fill(&ledger, 4, Self.near)
        #expect(Set(ids).count == 4)
        #expect(ledger.connections == 4)
    }

    @Test("A client with too many connections without a token loses its own oldest one, and no other client loses any")
    func strangers() {
        var ledger = ConnectionLedger(maximum: 100, strangersPerClient: 3)
        let other = Self.fill(&ledger, 1, Self.far)
        let own = Self.fill(&ledger, 3, Self.near)
        guard case .replaces(own[0], by: let newest) = ledger.admit(Self.near, isKnown: false) else {
            Issue.record("the oldest was not replaced")
            return
        }
        #expect(ledger.connections == 4)
        // Connections that have presented the token do not count.
        for id in own[1...] + [newest] + other { ledger.set(isKnown: true, of: id) }
        let further = Self.fill(&ledger, 3, Self.near)
        #expect(further.count == 3)
    }

    @Test("If all places are taken, the client with the most waiting connections loses the longest-waiting one")
    func full() {
        var ledger = ConnectionLedger(maximum: 6, strangersPerClient: 6)
        _ = Self.fill(&ledger, 2, Self.far)
        var near = Self.fill(&ledger, 4, Self.near)
        // The first has just sent something; tokens do not matter here.
        ledger.set(.waiting, of: near[0])
        for id in near { ledger.set(isKnown: true, of: id) }
        near.append(near.removeFirst())
        for old in near.prefix(2) {
            guard case .replaces(old, by: _) = ledger.admit(.ipv6(UInt64(old)), isKnown: false) else {
                Issue.record("\(old) was not replaced")
                return
            }
        }
        #expect(ledger.connections == 6)
    }

    @Test("The newest connection of a client is the last to give way")
    func newest() {
        var ledger = ConnectionLedger(maximum: 8, strangersPerClient: 8)
        _ = Self.fill(&ledger, 8, Self.near, isKnown: true)
        guard case .replaces(_, by: let newest) = ledger.admit(Self.near, isKnown: false) else {
            Issue.record("no connection was replaced")
            return
        }
        for _ in 0..<7 {
            let verdict = ledger.admit(Self.near, isKnown: true)
            if case .replaces(newest, by: _) = verdict { Issue.record("the newest was replaced") }
        }
    }

    @Test("Connections that are being answered stay, and if all are, no other is admitted")
    func answered() {
        var ledger = ConnectionLedger(maximum: 3, strangersPerClient: 3)
        let ids = Self.fill(&ledger, 3, Self.near)
        for id in ids.dropLast() { ledger.set(.answering, of: id) }
        guard case .replaces(ids[2], by: let newest) = ledger.admit(Self.far, isKnown: true) else {
            Issue.record("the waiting connection was not replaced")
            return
        }
        ledger.set(.answering, of: newest)
        let verdict = ledger.admit(Self.far, isKnown: true)
        #expect(verdict == .refused)
        ledger.remove(ids[0])
        let last = Self.fill(&ledger, 1, Self.far)
        #expect(last.count == 1)
    }
}
