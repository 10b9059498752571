import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// Streams that are found by ONVIF: from a device that accepts and sends only what ONVIF's schemas permit, with
    /// GStreamer's RTSP server.
    @Suite struct ONVIFSourceTests {
        private func server(_ width: Int) throws -> RTSPServer {
            var options = RTSPServer.Options()
            options.size = ImageSize(width: width, height: 240)
            options.authentication = .digest
            (options.user, options.password) = ("camera", "secret")
            return try RTSPServer(options)
        }

        private func device(
            _ authentication: ONVIFDevice.Authentication, _ faults: [ONVIFDevice.Fault] = [],
            profiles: [(token: String, url: String)] = []
        ) throws -> ONVIFDevice {
            var options = ONVIFDevice.Options()
            (options.authentication, options.faults, options.profiles) = (authentication, faults, profiles)
            // The device's clock is three days behind, and it rejects tokens older than 20 s.
            options.clock = -3 * 86_400
            return try ONVIFDevice(options)
        }

        private func camera(
            _ device: ONVIFDevice, _ profile: String? = nil, password: String = "secret"
        ) -> ONVIFConfiguration {
            var camera = ONVIFConfiguration(device: device.url)
            camera.profile = profile
            camera.stream = .test("") { ($0.user, $0.password) = ("camera", password) }
            return camera
        }

        /// The width of the first picture.
        private func width(_ camera: ONVIFConfiguration) async throws -> Int? {
            let run = SourceRun(camera)
            _ = try await run.open()
            let width = try await run.next()?.frame?.size.width
            try await run.close()
            #expect(!run.log.text.contains("secret"))
            return width
        }

        @Test func eachOpeningPlaysTheProfileWhereverItsStreamIsThen() async throws {
            let (main, sub) = (try server(320), try server(160))
            // The host does not exist: the device is behind a router.
            func elsewhere(_ server: RTSPServer) -> String { "rtsp://192.0.2.7:\(server.port)/stream" }
            let device = try device(.token, profiles: [("main", elsewhere(main)), ("sub", elsewhere(sub))])
            #expect(try await width(camera(device)) == 320)
            let second = try #require(camera(device, "sub view").scopedToCapturer() as? ONVIFConfiguration)
            #expect(try await width(second) == 160)
            try device.move("sub", to: elsewhere(main))
            #expect(try await width(second) == 320)
            #expect(
                device.requests.filter { !$0.trouble.isEmpty }.allSatisfy { $0.status == 400 && $0.credentials.isEmpty }
            )
            let addresses = device.requests.filter { $0.name == "GetStreamUri" && $0.status == 200 }
            #expect(addresses.map(\.profile) == ["main", "sub", "sub"])
        }

        @Test(
            "An error suggests a remedy",
            arguments: [
                (.none, [], "gone", .notFound, "It has: main view (1920x1080)."),
                (.none, [.page], nil, .malformedData, "not an ONVIF device service"),
                (.none, [.mute], nil, .timedOut, "did not answer in time"),
                (.token, [], nil, .authenticationFailed, "separate users for ONVIF"),
                (.token, [], nil, .authenticationFailed, "clock differs by 2592"),
                (.digest, [], nil, .authenticationFailed, "separate users for ONVIF"),
                (.none, [.refuseMedia2], "gone", .notFound, "It has: main view"),
            ]
                as [(
                    ONVIFDevice.Authentication, [ONVIFDevice.Fault], String?, InletError.Code, String
                )])
        func errors(
            _ it: (
                kind: ONVIFDevice.Authentication, faults: [ONVIFDevice.Fault], profile: String?, code: InletError.Code,
                text: String
            )
        ) async throws {
            let device = try device(it.kind, it.faults)
            var camera = camera(device, it.profile, password: "secret-but-wrong")
            camera.stream.connectTimeout = .seconds(it.faults == [.mute] ? 1 : 10)
            let run = SourceRun(camera)
            var failure: InletError?
            do {
                _ = try await run.open()
            } catch let error as InletError {
                failure = error
            }
            try await run.close()
            #expect(
                failure?.code == it.code && failure?.message.contains(it.text) == true, "\(String(describing: failure))"
            )
            #expect(failure?.message.contains("secret") == false && !run.log.text.contains("secret"))
            // A wrong password is tried once in each way: cameras lock accounts.
            #expect(device.requests.count { !$0.credentials.isEmpty } <= 2, "\(device.requests)")
        }

        @Test(
            "The address of the device service is that of the URI",
            arguments: [
                ("onvif://camera", "http://camera/onvif/device_service", nil, nil),
                (
                    "onvif://me:s3c%20r3t@camera:8080/?profile=sub", "http://camera:8080/onvif/device_service", "sub",
                    "me"
                ),
                ("onvifs://me@camera/own/path?password=s3cr3t", "https://camera/own/path", nil, "me"),
                ("onvif://camera/?user=you&transport=udp", "http://camera/onvif/device_service", nil, "you"),
                ("onvifs://camera/?transport=udp", "https://camera/onvif/device_service", nil, nil),
                ("onvif://camera/?password=s3cr3t", nil, nil, nil), ("onvif://", nil, nil, nil),
                ("onvif://camera/?onvif=http://camera/", nil, nil, nil), ("onvif://camera/?profile=", nil, nil, nil),
            ] as [(String, String?, String?, String?)])
        func options(_ it: (uri: String, device: String?, profile: String?, user: String?)) throws {
            var registry = PluginRegistry()
            registry.register(SourcePlugin.onvif)
            let source = try? registry.source(it.uri) as? ONVIFConfiguration
            #expect(source?.device == it.device)
            #expect(source?.profile == it.profile && source?.stream.user == it.user)
            #expect(source.map { "\($0)".contains("3cr3t") || "\($0)".contains("3c%20r3t") } != true)
            if let source {
                #expect(source.redactedURI.hasPrefix(it.uri.hasPrefix("onvifs") ? "onvifs://c" : "onvif://c"))
            }
        }
    }
}
