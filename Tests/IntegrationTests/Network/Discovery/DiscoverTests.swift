import Foundation
import ReferenceTools
import Testing

/// `inlet discover` with devices that answer, in separate network namespaces.
@Suite(
    .tags(.server), .fewAtATime,
    .enabled(
        if: NetworkNamespace.isAvailable,
        "network namespaces cannot be made here; that needs root and the tool ip"))
struct DiscoverTests {
    private struct Listing: Decodable, Equatable {
        var endpoint: String
        var name: String
        var hardware: String
        var location: String
        var addresses: [String]
    }

    @Test func camerasThatAnswerAreListedOnceAndHostileAnswersAreNot() throws {
        let peer = try PeerProcess("discovery-device.py")
        let clients = try #require(peer.ready["clients"]?.int)
        func discover(_ options: String) throws -> InletProcess {
            try .shell("exec nsenter --net=/proc/\(clients)/ns/net \"$INLET\" discover --timeout 1 \(options)")
        }
        let run = try discover("--json --interface client --interface lo")
        #expect(run.status == 0, "\(run.complaints) \(peer.log)")
        #expect(
            try JSONDecoder().decode([Listing].self, from: run.output) == [
                Listing(
                    endpoint: "urn:uuid:door", name: "Front Door", hardware: "M1\\u{1B}[31m",
                    location: "country/iceland, hall 3",
                    addresses: ["http://10.77.0.1/onvif/device_service", "http://***@10.77.0.1/"]),
                Listing(
                    endpoint: "urn:uuid:yard", name: "", hardware: "", location: "",
                    addresses: [8080, 8081].map { "http://10.77.0.1:\($0)/onvif/device_service" }),
            ])
        // The probe is sent twice with one message ID, and the device accepts it.
        let probes = try peer.send("report")["probes"]
        guard case .list(let messages) = probes else {
            Issue.record("no probes: \(peer.log)")
            return
        }
        #expect(messages.count == 2 && Set(messages).count == 1)
        #expect(messages.allSatisfy { $0.text.utf8.starts(with: "urn:uuid:".utf8) })

        // With a login, each device is queried at the address from which it answered. Here neither accepts that.
        let asked = try discover("--json --interface client --login viewer --password-env PATH")
        let answer = String(decoding: asked.output, as: UTF8.self)
        #expect(asked.status == 0 && answer.split(separator: "\"error\":").count == 3, "\(answer) \(asked.complaints)")

        // Without arguments it also probes on the link's interface.
        let lines = String(decoding: try discover("").output, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines.dropFirst().first?.hasSuffix("http://10.77.0.1/onvif/device_service") == true)
        // If no device answers, the list is empty. An interface that does not exist is a usage error.
        #expect(try discover("--json --interface lo").output == Data("[]\n".utf8))
        let absent = try discover("--interface absent0")
        #expect(absent.status == 64 && absent.complaints.contains("'absent0' is not an interface"))
    }
}
