import Foundation
import ReferenceTools
import Testing

/// The daemon with hostile clients, readers and cameras, all at once.
@Suite(.tags(.daemon), .serialized, .fewDaemons, .takes(atMostMinutes: 5)) struct ServeSiegeTests {
    @Test("Under all attacks at once, a legitimate client is served, and afterwards nothing of them remains")
    func siege() async throws {
        struct Seen: Decodable {
            var trouble: [String]
            var served: Int { counts["served"] ?? 0 }
            var counts: [String: Int]
            var slowestS, watchdogS: Double
            var growthKib: Int
            var memoryKib, threads, descriptors: [Int]
        }
        var words = [
            "-B", PeerProcess.path("serve-siege.py"), "--inlet", BuiltProgram.inlet, "--seconds", "8",
        ]
        #if GStreamer
        words.append("--restreams")
        #endif
        if let growth = ProcessInfo.processInfo.environment["INLET_GROWTH"] { words += ["--growth", growth] }
        let output = try await ReferenceCommand.runAside("/usr/bin/python3", words)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let seen = try decoder.decode(Seen.self, from: output)
        print(
            "measured: the legitimate client waited at most \(seen.slowestS) s, the watchdog \(seen.watchdogS) s;"
                + " before, at most, after: \(seen.memoryKib) KiB, \(seen.threads) threads,"
                + " \(seen.descriptors) descriptors")
        #expect(seen.trouble == [])
        #expect(seen.served > 10)
        // Fixed limits, which only the configuration may change: threads of streams, connections.
        #expect(seen.threads[1] < 400 && seen.descriptors[1] < 1024, "\(seen)")
    }
}
