import InletCore
import InletRTSP
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// Devices that state several addresses, some of which do not answer.
    @Suite struct DeviceLoginTests {
        private func device(
            _ authentication: ONVIFDevice.Authentication, _ faults: [ONVIFDevice.Fault] = []
        ) throws -> ONVIFDevice {
            var options = ONVIFDevice.Options()
            (options.authentication, options.faults) = (authentication, faults)
            return try ONVIFDevice(options)
        }

        private func ask(_ devices: [[String]], password: String = "secret") throws -> [DeviceLogin.Answer] {
            let login = DeviceLogin(user: "camera", password: password, clock: CountingClock())
            return try login.profiles(of: devices.map { try $0.map { try RTSPURL(service: Array($0.utf8)) } })
        }

        @Test("A device is queried at its other addresses in turn until one answers")
        func nextAddress() async throws {
            let (device, page) = (try device(.token), try device(.none, [.page]))
            let closed = "http://127.0.0.1:\(try FreePort.find())/onvif/device_service"
            let answers = try ask([[closed, page.url, device.url], [closed]])
            #expect(try answers[0].profiles.get().map(\.tokenText) == ["main"])
            #expect(answers[0].clockOffset.map { abs($0) <= 2 } == true)
            #expect(throws: InletError.self) { try answers[1].profiles.get() }
        }

        @Test("A device that refuses the password gets it at one of its addresses only")
        func refused() throws {
            let devices = (try device(.token), try device(.token))
            let answers = try ask([[devices.0.url, devices.1.url]], password: "secret-but-wrong")
            let error = #expect(throws: InletError.self) { try answers[0].profiles.get() }
            #expect(error?.code == .authenticationFailed)
            #expect(devices.0.requests.contains { $0.credentials == "UsernameToken" } && devices.1.requests.isEmpty)
        }
    }
}
