import ReferenceTools
import Testing

/// The daemon with hostile clients.
@Suite(.tags(.daemon), .serialized, .fewDaemons, .takes(atMostMinutes: 10)) struct ServeHostileTests {
    @Test(
        "Among hostile clients a legitimate one is served, a recording is complete, and memory does not grow")
    func gallery() async throws {
        let seen = try await HostileGallery.run(against: "serve")
        #expect(seen.trouble == [])
        #expect(seen.attacks.count == 14)
    }
}
