import ReferenceTools
import Testing

/// Addresses with a password, typed in the wrong place.
@Suite(.blocking) struct QuotedPasswordTests {
    @Test(
        "An error of the command quotes no password",
        arguments: [
            ["ADDRESS"], ["explain", "ADDRESS"], ["plugins", "ADDRESS"], ["run", "pattern:ADDRESS"],
            ["run", "pattern:", "--to", "mp5:ADDRESS"], ["run", "pattern:", "--queue", "ADDRESS"],
            ["snapshot", "pattern:", "ADDRESS"],
        ], [8, 400])
    func quoted(arguments: [String], length: Int) throws {
        let password = String(repeating: "hunter2-", count: length / 8)
        let address = "rtsp://admin:\(password)@camera/main"
        let run = try InletProcess.run(arguments.map { $0.replacing("ADDRESS", with: address) })
        #expect(run.status != 0)
        #expect(run.complaints.contains("error:"))
        #expect(!run.complaints.contains("hunter2"), "\(run.complaints)")
    }
}
