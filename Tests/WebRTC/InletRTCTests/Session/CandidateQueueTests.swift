import Testing

@testable import InletRTC

@Suite struct CandidateQueueTests {
    static func candidate(_ number: Int, _ flow: String = "a") -> ICECandidate {
        ICECandidate(line: "candidate:\(number)", section: 0, flow: SignalingFlow(flow))
    }

    @Test("Candidates before the description are held, and returned once in order")
    func holds() {
        var queue = CandidateQueue()
        for number in [3, 1, 2, 1] { _ = queue.add(Self.candidate(number)) }
        #expect(queue.open(SignalingFlow("a")) == [3, 1, 2].map { Self.candidate($0) })
        #expect(queue.open(SignalingFlow("a")) == [])
        #expect(queue.add(Self.candidate(1)) == .ignored)
        #expect(queue.add(Self.candidate(4)) == .ready)
    }

    @Test("Flows do not mix, and candidates for a finished flow are ignored")
    func flows() {
        var queue = CandidateQueue()
        #expect(queue.add(Self.candidate(1, "b")) == .held)
        #expect(queue.open(SignalingFlow("a")) == [])
        #expect(queue.add(Self.candidate(2, "b")) == .held)
        #expect(queue.open(SignalingFlow("b")) == [Self.candidate(1, "b"), Self.candidate(2, "b")])
        #expect(queue.add(Self.candidate(3, "a")) == .ignored)
        queue.close(SignalingFlow("b"))
        #expect(queue.add(Self.candidate(3, "b")) == .ignored)
    }

    @Test("A peer can fill neither a flow nor the queue", arguments: [true, false])
    func bounds(_ isOpen: Bool) {
        var queue = CandidateQueue(capacity: 3, flows: 2)
        if isOpen { _ = queue.open(SignalingFlow("a")) }
        #expect((1...4).map { queue.add(Self.candidate($0)) }.last == .refused)
        for flow in ["b", "c"] { _ = queue.add(Self.candidate(1, flow)) }
        for number in 0..<1000 { _ = queue.add(Self.candidate(1, "f\(number)")) }
        #expect(queue.open(SignalingFlow("c")) == [], "the oldest flows gave way")
        #expect(queue.open(SignalingFlow("f999")) == [Self.candidate(1, "f999")])
    }
}
