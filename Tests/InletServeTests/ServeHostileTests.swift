import ReferenceTools
import Testing

/// The daemon among clients that mean it harm.
@Suite(.tags(.daemon), .serialized, .fewDaemons, .takes(atMostMinutes: 10)) struct ServeHostileTests {
    @Test(
        "Through hostile clients a rightful one gets answers and pictures, a recording lacks none, and memory is flat")
    func gallery() async throws {
        let seen = try await HostileGallery.run(against: "serve")
        #expect(seen.trouble == [])
        #expect(seen.attacks.count == 14)
    }
}
