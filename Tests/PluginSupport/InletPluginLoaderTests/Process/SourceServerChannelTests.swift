import CInletPlugin
import InletCore
import InletPluginIPC
import Testing

@testable import InletPluginLoader

/// The reports of a source's child while the daemon doesn't read for some time.
struct SourceServerChannelTests {
    @Test("When there was no room for all states, the newest arrive before the next answer")
    func states() throws {
        let (daemon, child) = try MessageSocket.pair()
        let channel = SourceServerChannel(child)
        var count = 0
        while channel.note(INLET_MESSAGE_LOG, text: "filled") { count += 1 }
        #expect(!channel.note(INLET_MESSAGE_DROP, text: "late", count: 1))
        let motion = SourceDetection(.motion, isActive: false)
        channel.note(.lag, SourceReport.lag(true).note)
        channel.note(.detection(.motion), SourceReport.detection(SourceDetection(.motion, isActive: true)).note)
        channel.note(.lag, SourceReport.lag(false).note)
        channel.note(.detection(.motion), SourceReport.detection(motion).note)
        var buffer = MessageBuffer()
        for _ in 0..<count {
            try daemon.receive(into: &buffer)
            #expect(buffer.type == UInt32(INLET_MESSAGE_LOG))
        }
        channel.answer(INLET_AGAIN)
        for state in [SourceReport.lag(false), .detection(motion)] {
            try daemon.receive(into: &buffer)
            #expect(try PluginNote(buffer) == .report(state))
        }
        try daemon.receive(into: &buffer)
        #expect(buffer.read(inlet_wire_result.self)?.result == inlet_result(INLET_AGAIN))
        #expect(throws: MessageSocket.ReceiveFailure.self) { try daemon.receive(into: &buffer) }
    }
}
