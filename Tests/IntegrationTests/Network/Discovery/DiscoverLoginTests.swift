import Foundation
import ReferenceTools
import Testing

/// `inlet discover --login` against devices that accept only what ONVIF's schemas permit.
@Suite(.tags(.server), .fewAtATime) struct DiscoverLoginTests {
    private struct Listing: Decodable {
        struct Profile: Decodable, Equatable {
            var name: String
            var token: String
            var encoding: String
            var width: Int?
            var height: Int?
            var frameRate: Double?
            var address: String?
        }
        var endpoint: String
        var profiles: [Profile]?
        var clockOffset: Int?
        var error: String?
    }

    private func discover(
        _ devices: [ONVIFDevice], _ arguments: [String] = [], password: String = "secret"
    ) throws -> InletProcess {
        let run = try InletProcess.run(
            ["discover", "--login", "camera", "--password-env", "INLET_TEST_PASSWORD"]
                + devices.flatMap { ["--device", $0.url] } + arguments,
            environment: ["INLET_TEST_PASSWORD": password])
        #expect(run.status == 0, "\(run.complaints)")
        #expect(!(String(decoding: run.output, as: UTF8.self) + run.complaints).contains("secret"))
        return run
    }

    @Test func profilesAndTheirStreamsAreListedAsEachDeviceTellsThem() throws {
        func device(
            _ media: String, _ authentication: ONVIFDevice.Authentication, _ faults: [ONVIFDevice.Fault] = []
        ) throws -> ONVIFDevice {
            var options = ONVIFDevice.Options()
            (options.media, options.authentication, options.faults) = (media, authentication, faults)
            options.profiles = [
                ("main", "rtsp://viewer:secret@192.0.2.7:8554/one?channel=1&key=secret"),
                ("sub", "rtsp://192.0.2.7/two"),
            ]
            // The device's clock is three days behind, and it rejects tokens older than 20 s.
            options.clock = -3 * 86_400
            return try ONVIFDevice(options)
        }
        let devices = try [
            device("1", .token), device("2", .digest), device("both", .token, [.garbage]), device("none", .none),
            device("1", .digest, [.noClock]),
        ]
        let run = try discover(devices, ["--json"])
        let listings = try JSONDecoder().decode([Listing].self, from: run.output)
        #expect(listings.map(\.endpoint) == devices.map(\.url))
        // Devices behind a router state addresses that cannot be reached, so the device's own host is used.
        func profiles(_ encoding: String, _ rate: Double) -> [Listing.Profile] {
            [
                .init(
                    name: "main view", token: "main", encoding: encoding, width: 1920, height: 1080, frameRate: rate,
                    address: "rtsp://127.0.0.1:8554/one?channel=1&key=***"),
                .init(
                    name: "sub view", token: "sub", encoding: encoding, width: 960, height: 540, frameRate: rate,
                    address: "rtsp://127.0.0.1/two"),
            ]
        }
        #expect(listings[0].profiles == profiles("H264", 25) && listings[1].profiles == profiles("H265", 12.5))
        // A second may pass between the time in an answer and the moment when it is read.
        for listing in listings[..<2] {
            #expect(listing.clockOffset.map { abs($0 + 3 * 86_400) <= 2 } == true, "\(listing)")
        }
        #expect(listings[2].profiles == nil && listings[2].error?.contains("HTTP") == true)
        #expect(listings[3].error?.contains("no media service") == true)
        #expect(listings[4].clockOffset == nil && listings[4].profiles?.count == 2, "\(listings[4])")
        for device in devices { #expect(device.requests.allSatisfy { $0.status != 400 || !$0.trouble.isEmpty }) }

        let table = String(decoding: try discover([devices[0]]).output, as: UTF8.self).split(separator: "\n")
        #expect(table.count == 5)
        #expect(table[2] == "  main view  1920x1080  H264  25 fps  rtsp://127.0.0.1:8554/one?channel=1&key=***")
        #expect(table[4].hasSuffix(" s behind: set its time server"), "\(table)")

        // A wrong password is reported as such.
        let wrong = try discover([devices[0]], ["--json"], password: "secret-but-wrong")
        let refused = try JSONDecoder().decode([Listing].self, from: wrong.output)
        // A wrong clock is reported as well: it is why some devices refuse a correct password.
        #expect(refused[0].clockOffset.map { $0 < -86_400 } == true)
        #expect(refused[0].profiles == nil && refused[0].error?.contains("password") == true, "\(refused)")
    }

    @Test(
        "A missing argument is reported before anything is sent",
        arguments: [
            (["--login", "camera"], "--password-file"), (["--device", "192.0.2.7"], "need --login"),
            (["--login", "camera", "--password-env", "PATH", "--device", "rtsp://x/"], "device service"),
            (
                ["--login", "camera", "--password-env", "INLET_TEST_ABSENT", "--device", "192.0.2.7"],
                "INLET_TEST_ABSENT"
            ),
        ])
    func usage(_ it: (arguments: [String], complaint: String)) throws {
        let run = try InletProcess.run(["discover"] + it.arguments)
        #expect(run.status == 64 && run.complaints.contains(it.complaint), "\(run.status) \(run.complaints)")
    }
}
