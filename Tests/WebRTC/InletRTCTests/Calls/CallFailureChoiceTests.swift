import InletCore
import InletRTC
import Testing

/// The failure reason of a call whose sessions fail.
@Suite struct CallFailureChoiceTests {
    private static let gone = InletError(.disconnected, "The peer ended the session.")
    private static let late = InletError(.timedOut, "No path to the peer was found.")
    private static let relay = InletError(.authenticationFailed, "No relay provided an address.")
    private static let codec = InletError(.unsupported, "The peer supports none of the codecs.")

    /// Describes a verdict about a failure: the reported message, or a word.
    private static func done(_ verdict: CallFailureChoice.Verdict) -> String {
        switch verdict {
        case .report(let error): error.message
        case .wait: "wait"
        case .nothing: "nothing"
        }
    }

    @Test("The failure that names a cause is the reason, whichever of two comes first")
    func either() {
        for vague in [Self.gone, Self.late] {
            for cause in [Self.relay, Self.codec] {
                var choice = CallFailureChoice()
                #expect(Self.done(choice.fail(vague)) == "wait")
                #expect(Self.done(choice.fail(cause)) == cause.message)
                #expect(choice.timeUp() == nil && Self.done(choice.fail(Self.relay)) == "nothing")
                choice = CallFailureChoice()
                #expect(Self.done(choice.fail(cause)) == cause.message)
                #expect(Self.done(choice.fail(vague)) == "nothing" && choice.timeUp() == nil)
            }
        }
    }

    @Test("Without a cause the first failure is the reason, after the wait, once")
    func vague() {
        var choice = CallFailureChoice()
        #expect(choice.timeUp() == nil)
        #expect(Self.done(choice.fail(Self.gone)) == "wait")
        #expect(Self.done(choice.fail(Self.late)) == "nothing")
        #expect(choice.timeUp()?.message == Self.gone.message)
        #expect(choice.timeUp() == nil && Self.done(choice.fail(Self.relay)) == "nothing")
    }

    @Test("The cause of a failed attempt is the reason when the last one only ran out of time")
    func setbacks() {
        var choice = CallFailureChoice()
        choice.noteSetback(Self.relay)
        choice.noteSetback(Self.late)
        #expect(Self.done(choice.fail(Self.late)) == Self.relay.message)
        choice = CallFailureChoice()
        choice.noteSetback(Self.relay)
        choice.recovered()
        #expect(Self.done(choice.fail(Self.gone)) == "wait")
    }

    @Test("A finished call has no failure reason, even after the wait")
    func over() {
        var choice = CallFailureChoice()
        #expect(Self.done(choice.fail(Self.gone)) == "wait")
        choice.end()
        #expect(choice.timeUp() == nil && Self.done(choice.fail(Self.relay)) == "nothing")
    }
}
