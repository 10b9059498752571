import InletRTC
import Testing

/// The guests of an endpoint.
@Suite struct GuestListTests {
    @Test("A request counts the guests and reports one with the same name; a place is freed once")
    func places() {
        var list = GuestList(.publisher)
        let first = list.enter("door", from: "a")
        #expect(
            first.request
                == AdmissionRequest(kind: .publisher, name: "door", address: "a", present: 0, isNamesake: false))
        let nameless = list.enter(nil, from: "b")
        #expect(nameless.request.present == 1 && !nameless.request.isNamesake)
        #expect(!list.enter(nil, from: "b").request.isNamesake)
        // Names are compared by bytes: another encoding of the same letters is a different name.
        #expect(!list.enter("caf\u{E9}", from: "c").request.isNamesake)
        #expect(!list.enter("cafe\u{301}", from: "c").request.isNamesake)
        list.begin("session-1", at: first.number)
        let second = list.enter("door", from: "d")
        #expect(second.request.isNamesake && second.request.present == 5)
        #expect(list.sessions(ofNamesakes: second.number) == ["session-1"])
        list.begin("session-2", at: second.number)
        #expect(list.sessions(ofNamesakes: second.number) == ["session-1"])
        #expect(list.sessions(ofNamesakes: nameless.number).isEmpty)
        #expect(list.leave(first.number) && !list.leave(first.number))
        #expect(list.sessions(ofNamesakes: second.number).isEmpty)
    }
}
