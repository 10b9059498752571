import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// Key-frame requests by ONVIF, to a device that accepts only what ONVIF's schemas permit.
    @Suite struct ONVIFTests {
        /// The result of a run.
        private struct Outcome {
            var requests: [ONVIFDevice.Request]
            var log: String
            /// The names of the operations, in order.
            var names: [String] { requests.map(\.name) }
            var last: ONVIFDevice.Request? { requests.last }
        }

        private func options(
            _ authentication: ONVIFDevice.Authentication = .none, _ faults: [ONVIFDevice.Fault] = [],
            media: String = "both"
        ) -> ONVIFDevice.Options {
            var options = ONVIFDevice.Options()
            (options.authentication, options.faults, options.media) = (authentication, faults, media)
            return options
        }

        /// A source whose server sends nothing until it is asked to, with a device.
        private struct Scene {
            let clip: ScriptClip
            let server: RTSPScript
            let device: ONVIFDevice
            let run: SourceRun

            init(_ options: ONVIFDevice.Options, _ change: @Sendable (inout RTSPConfiguration) -> Void) throws {
                clip = try ScriptClip.of(.small)
                var script = clip.options
                script.isWithholding = true
                server = try RTSPScript(script)
                let device = try ONVIFDevice(options)
                self.device = device
                run = SourceRun(
                    .test(server.url) {
                        $0.onvif = device.url
                        ($0.user, $0.password) = ("camera", "secret")
                        $0.firstTimeout = .seconds(60)
                        change(&$0)
                    }, limit: .seconds(90))
            }
        }

        /// Opens a source whose server sends nothing until the device has accepted a key-frame request.
        private func request(
            _ options: ONVIFDevice.Options, _ change: @Sendable (inout RTSPConfiguration) -> Void = { _ in }
        ) async throws -> Outcome {
            let scene = try Scene(options, change)
            let (clip, server, device, run) = (scene.clip, scene.server, scene.device, scene.run)
            _ = try await run.open()
            async let item = run.next()
            try await Waiting.until("the request", progress: { device.requests.count }) {
                !device.synchronizations.isEmpty
            }
            try server.next()
            #expect(try await item?.frame.map { SourceRun.sum(of: $0) } == clip.sums.first)
            try await run.close()
            #expect(!run.log.text.contains("secret"))
            return Outcome(requests: device.requests, log: run.log.text)
        }

        /// Plays a whole clip with a device that does not work.
        private func play(
            _ options: ONVIFDevice.Options, _ change: @Sendable (inout RTSPConfiguration) -> Void = { _ in }
        ) async throws -> Outcome {
            let scene = try Scene(options) {
                $0.connectTimeout = .seconds(2)
                change(&$0)
            }
            let (clip, server, device, run) = (scene.clip, scene.server, scene.device, scene.run)
            _ = try await run.open()
            async let first = run.next()
            try await Waiting.until("the failure", progress: { device.requests.count }) {
                run.log.text.contains("Cannot request a key frame by ONVIF")
            }
            try server.next(clip.sums.count)
            var sums = [SourceRun.sum(of: try #require(try await first?.frame))]
            while sums.count < clip.sums.count, let frame = try await run.next()?.frame {
                sums.append(SourceRun.sum(of: frame))
            }
            #expect(sums == clip.sums)
            try await run.close()
            let log = run.log.text
            #expect(log.split(separator: "\n").count { $0.contains("Cannot request a key frame") } == 1)
            #expect(!log.contains("secret"))
            return Outcome(requests: device.requests, log: log)
        }

        @Test func theFirstPictureOfALongGroupIsTheKeyFrameThatWasRequested() async throws {
            var live = RTSPServer.Options()
            live.size = ImageSize(width: 320, height: 240)
            live.keyFrameInterval = 100_000
            let server = try RTSPServer(live)
            // The first viewer gets the only key frame; others join in mid-group.
            let first = SourceRun(.test(server.url) { $0.transport = .udp })
            _ = try await first.open()
            #expect(try await first.next()?.frame != nil)
            let second = SourceRun(.test(server.url), decodes: false)
            _ = try await second.open()
            for _ in 0..<30 { #expect(try await second.next()?.packet?.isKey == false) }
            try await second.close()

            let device = try ONVIFDevice()
            let run = SourceRun(
                .test(server.url) {
                    $0.onvif = device.url
                    $0.firstTimeout = .seconds(60)
                }, limit: .seconds(90))
            _ = try await run.open()
            async let item = run.next()
            // As long as no key frame arrives, the request is repeated, once a second at most.
            try await Waiting.until("the first request", progress: { device.requests.count }) {
                !device.synchronizations.isEmpty
            }
            try await Waiting.until("two more requests", progress: { device.requests.count }) {
                device.synchronizations.count >= 3
            }
            let begin = ContinuousClock.now
            let before = device.synchronizations.count
            try server.process.send("key")
            #expect(try await item?.frame != nil)
            let after = device.synchronizations.count
            // One may have been under way when the time began.
            #expect(after - before <= 2 + Int((ContinuousClock.now - begin) / .seconds(1)))
            for _ in 0..<40 { #expect(try await run.next()?.frame != nil) }
            // The key frame is there: nothing more is requested, except a request that was under way.
            #expect(device.synchronizations.count <= after + 1)
            try await run.close()
            try await first.close()
            #expect(device.requests.allSatisfy { $0.trouble.isEmpty })
        }

        @Test("The user name is sent in the form the device requires", arguments: ONVIFDevice.Authentication.allCases)
        func authentication(_ kind: ONVIFDevice.Authentication) async throws {
            var options = options(kind)
            // The device's clock is three days ahead, and it rejects tokens older than 20 s.
            options.clock = 3 * 86_400
            let outcome = try await request(options)
            let wanted =
                switch kind {
                case .none: ""
                case .digest, .both: "Digest"
                case .token, .challengeToken: "UsernameToken"
                }
            #expect(outcome.last?.credentials == wanted, "\(outcome.requests)")
            #expect(outcome.last?.service == "media2" && outcome.last?.profile == "main")
            #expect(outcome.names.contains("GetSystemDateAndTime") == (wanted == "UsernameToken"))
            // The first request is without credentials, and no later one is.
            let refused = outcome.requests.filter { !$0.trouble.isEmpty }
            #expect(refused.count == [.none: 0, .challengeToken: 2][kind] ?? 1, "\(outcome.requests)")
            #expect(!outcome.requests.contains { $0.credentials == "DigestUsernameToken" })
        }

        @Test(
            "Unusual answers are understood",
            arguments: [.capabilities, .otherHost, .chunked, .untilEnd, .oneByte, .redirect, .refuseMedia2, .noClock]
                as [ONVIFDevice.Fault])
        func oddities(_ fault: ONVIFDevice.Fault) async throws {
            let outcome = try await request(options(.token, [fault]))
            let isOlder = fault == .capabilities || fault == .refuseMedia2
            #expect(outcome.last?.service == (isOlder ? "media1" : "media2"), "\(outcome.requests)")
            #expect(outcome.last?.path == (fault == .redirect ? "/moved" : "") + "/onvif/media?v=\(isOlder ? 1 : 2)")
            #expect(outcome.last?.credentials == "UsernameToken")
        }

        @Test("Either media service works", arguments: ["1", "2"])
        func media(_ version: String) async throws {
            let outcome = try await request(options(media: version))
            #expect(outcome.last?.service == "media\(version)")
            #expect(outcome.names == ["GetServices", "GetProfiles", "SetSynchronizationPoint"])
        }

        @Test(
            "The profile is that of the stream",
            arguments: [
                (["/other", "/stream"], "", nil, "1"), (["/other", "/stream?unicast=true"], "", nil, "1"),
                (["/stream?channel=1&subtype=1&u", "/stream?channel=1&subtype=0&u"], "?channel=1&subtype=0", nil, "1"),
                (["/a", "/b"], "", nil, "0"), (["/stream", "/b"], "", "1", "1"),
                (["/stream?a=1", "/stream"], "", nil, "1"),
            ] as [([String], String, String?, String)], ["1", "2"])
        func profile(_ it: ([String], String, String?, String), _ version: String) async throws {
            var options = options(media: version)
            options.profiles = it.0.enumerated().map { ("\($0.offset)", "rtsp://192.0.2.7:554\($0.element)") }
            let outcome = try await request(options) {
                $0.url += it.1
                $0.onvifProfile = it.2
            }
            #expect(outcome.last?.profile == it.3, "\(outcome.requests)")
            #expect(outcome.names.contains("GetProfiles") == (it.2 == nil))
            #expect(outcome.requests.allSatisfy { $0.trouble.isEmpty }, "\(outcome.requests)")
        }

        @Test(
            "A device that does not work delays nothing",
            arguments: [
                .mute, .endless, .garbage, .page, .doctype, .nested, .busy, .close, .redirectCircle, .refusePoint,
            ] as [ONVIFDevice.Fault])
        func uselessness(_ fault: ONVIFDevice.Fault) async throws {
            let outcome = try await play(options(.none, [fault]))
            // After a failure there is a pause of at least two seconds, then of four.
            #expect(outcome.requests.count < 20, "\(outcome.requests)")
        }

        @Test func aDeviceWithoutMediaServiceHoldsUpNothing() async throws {
            let outcome = try await play(options(media: "none"))
            #expect(outcome.names.prefix(2) == ["GetServices", "GetCapabilities"])
        }

        @Test(
            "A wrong password is tried once in each way", arguments: [ONVIFDevice.Authentication.token, .digest, .both])
        func wrongPassword(_ kind: ONVIFDevice.Authentication) async throws {
            let outcome = try await play(options(kind)) { $0.password = "secret-but-wrong" }
            #expect(outcome.requests.count { !$0.credentials.isEmpty } <= 2, "\(outcome.requests)")
        }

        @Test func anotherHostGetsNoCredentialsUnlessThatIsWanted() async throws {
            let outcome = try await play(options(.token, [.redirectStranger]))
            #expect(outcome.requests.allSatisfy { $0.path.hasPrefix("/moved") ? $0.credentials.isEmpty : true })
            #expect(outcome.requests.contains { $0.path.hasPrefix("/moved") })
            let shared = try await request(options(.token, [.redirectStranger])) { $0.sharesCredentials = true }
            #expect(shared.requests.contains { $0.path.hasPrefix("/moved") && $0.credentials == "UsernameToken" })
        }

        @Test func theCertificateIsChecked() async throws {
            var options = options(.digest)
            options.isTLS = true
            let outcome = try await play(options)
            #expect(outcome.requests.isEmpty && outcome.log.contains("tls-ca"))
            #expect(try await request(options) { $0.verifiesCertificate = false }.last?.credentials == "Digest")
        }

        @Test func closingDoesNotWaitForTheDevice() async throws {
            let server = try RTSPScript(try ScriptClip.of(.small).options)
            let device = try ONVIFDevice(options(.none, [.mute]))
            let run = SourceRun(
                .test(server.url) {
                    $0.onvif = device.url
                    $0.connectTimeout = .seconds(300)
                })
            _ = try await run.open()
            try await Waiting.until("the request", progress: { 0 }) { !device.requests.isEmpty }
            // The device is silent for a minute, and may be for five.
            let begin = ContinuousClock.now
            try await run.close()
            #expect(ContinuousClock.now - begin < .seconds(15))
        }

        @Test func whatWasFoundIsKnownToTheNextSource() async throws {
            let clip = try ScriptClip.of(.small)
            var script = clip.options
            script.isWithholding = true
            let server = try RTSPScript(script)
            let device = try ONVIFDevice(options(.token))
            let configuration = RTSPConfiguration.test(server.url) {
                $0.onvif = device.url
                ($0.user, $0.password) = ("camera", "secret")
                $0.firstTimeout = .seconds(60)
            }
            let scoped = try #require(configuration.scopedToCapturer() as? RTSPConfiguration)
            for round in 1...2 {
                let run = SourceRun(scoped, limit: .seconds(90))
                _ = try await run.open()
                async let item = run.next()
                try await Waiting.until("request \(round)", progress: { device.requests.count }) {
                    device.synchronizations.count >= round
                }
                try server.next(2)
                #expect(try await item?.frame != nil)
                try await run.close()
            }
            let names = device.requests.map(\.name)
            let first = try #require(names.firstIndex(of: "SetSynchronizationPoint"))
            #expect(names[first...].allSatisfy { $0 == "SetSynchronizationPoint" }, "\(names)")
            #expect(device.requests[first...].allSatisfy { $0.trouble.isEmpty })
        }

        @Test func theOptionsAreThoseOfTheAddress() throws {
            var registry = PluginRegistry()
            registry.register(SourcePlugin.rtsp)
            let service = "http://camera:8080/onvif/device_service"
            let source = try registry.source("rtsp://me@camera/s?x=1&onvif=\(service)&onvif-profile=Profile_1")
            let configuration = try #require(source as? RTSPConfiguration)
            #expect(configuration.onvif == service && configuration.onvifProfile == "Profile_1")
            #expect(configuration.url == "rtsp://me@camera/s?x=1")
            #expect(throws: InletError.self) { try registry.source("rtsp://camera/s?onvif=camera") }
            #expect(throws: InletError.self) { try registry.source("rtsp://camera/s?onvif-profile=a") }
            let never = try registry.source("rtsp://camera/s?key-frames=never&onvif=\(service)")
            #expect((never as? RTSPConfiguration)?.keyFrameRequests == .never)
        }

        @Test(
            "An invalid address of a device service is refused at once",
            arguments: [
                "rtsp://camera/onvif", "camera", "http://", "http://me:s3cr3t@camera/onvif", "http://camera:0/", "",
            ])
        func address(_ text: String) async throws {
            let error = try await SourceRun(.test("rtsp://127.0.0.1:1/") { $0.onvif = text }).failure()
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.contains("s3cr3t") == false)
        }
    }
}
