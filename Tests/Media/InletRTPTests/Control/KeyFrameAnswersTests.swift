import InletCore
import InletRTP
import Testing

@Suite struct KeyFrameAnswersTests {
    @Test("The time of an answer counts from the first of repeated requests, and a late key frame is no answer")
    func answers() {
        var answers = KeyFrameAnswers()
        answers.noteKeyFrame(at: PacketScript.time(0))
        #expect(answers == KeyFrameAnswers())
        answers.noteRequest(at: PacketScript.time(100))
        answers.noteRequest(at: PacketScript.time(1100))
        answers.noteKeyFrame(at: PacketScript.time(1350))
        // The next one answers nothing.
        answers.noteKeyFrame(at: PacketScript.time(1400))
        answers.noteRequest(at: PacketScript.time(2000))
        answers.noteKeyFrame(at: PacketScript.time(4001))
        answers.noteRequest(at: PacketScript.time(5000))
        answers.noteKeyFrame(at: PacketScript.time(5050))
        #expect(answers.requests == 4 && answers.responses == 2)
        #expect(answers.responseTime == .milliseconds(1300))
    }
}
