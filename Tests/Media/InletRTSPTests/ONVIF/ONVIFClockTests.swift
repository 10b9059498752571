import InletCore
import InletRTSP
import Testing

/// The determination of a device's time, by which it checks tokens.
@Suite struct ONVIFClockTests {
    /// 2026-03-01T12:00:00Z.
    private static let now: Int64 = 1_772_366_400

    /// A time of day of the machine and the device, as the device states it.
    private static func element(_ name: String, _ time: Int64?) -> String {
        guard let time else { return "" }
        let text = String(decoding: UTCTime(secondsSince1970: time).text, as: UTF8.self)
        let numbers = text.split { !$0.isNumber }.map { Int($0) ?? 0 }
        return """
            <\(name)><Time><Hour>\(numbers[3])</Hour><Minute>\(numbers[4])</Minute><Second>\(numbers[5])</Second></Time>
            <Date><Year>\(numbers[0])</Year><Month>\(numbers[1])</Month><Day>\(numbers[2])</Day></Date></\(name)>
            """
    }

    /// The times that a device states and the one that it checks, each in seconds ahead of the machine.
    struct Device: Sendable, CustomTestStringConvertible {
        var utc: Int64?
        var local: Int64?
        var zone = ""
        var isSummer = false
        var checked: Int64
        /// The required tokens.
        var tokens = 1
        var testDescription: String { "UTC \(utc ?? 0), local \(local ?? 0), zone \(zone), checks \(checked)" }
    }

    private static let hour: Int64 = 3600

    static let devices = [
        Device(utc: 0, local: 8 * hour, checked: 0), Device(utc: -259_200, checked: -259_200),
        Device(utc: 8 * hour, local: 16 * hour, checked: 8 * hour),
        // UTC is off by the time zone.
        Device(utc: 8 * hour, local: 8 * hour, checked: 0, tokens: 2),
        Device(utc: -5 * hour - 20, checked: -20, tokens: 2), Device(utc: 5 * hour + 1800 + 3, checked: 3, tokens: 2),
        // The device checks local time.
        Device(utc: 2, local: hour + 2, checked: hour + 2, tokens: 2),
        // There is no UTC.
        Device(local: 8 * hour + 5, zone: "CST-8", checked: 5), Device(local: -5 * hour, zone: "EST5EDT", checked: 0),
        Device(local: 2 * hour, zone: "CET-1CEST,M3.5.0,M10.5.0/3", isSummer: true, checked: 0),
        Device(local: 5 * hour + 2700, zone: "<+0545>-5:45", checked: 0),
        Device(local: -3 * hour + 7, zone: "America/Sao_Paulo", checked: 7), Device(local: hour, checked: 0),
        Device(local: 8 * hour, zone: "CST-8", checked: 8 * hour, tokens: 2), Device(local: 100, checked: 100),
    ]

    /// Lets a session request the profiles of a device that requires tokens of the right time and password.
    ///
    /// - Returns: the number of tokens that were sent, and whether the device accepted one.
    private func run(_ device: Device, accepts: Bool = true) throws -> (tokens: Int, isAccepted: Bool) {
        let url = try RTSPURL(service: Array("http://camera/onvif/device_service".utf8))
        var settings = ONVIFSession.Settings(device: url, goal: .profiles)
        settings.credentials = RTSPCredentials(user: Array("me".utf8), password: Array("secret".utf8))
        var session = ONVIFSession(settings)
        var tokens = 0
        for _ in 0..<20 {
            guard let exchange = session.next(wantsKeyFrame: false, at: Self.now, nonce: Array(0..<16)) else { break }
            let text = String(decoding: exchange.bytes, as: UTF8.self)
            var content: String?
            if exchange.request == .clock {
                content = """
                    <SystemDateAndTime><DaylightSavings>\(device.isSummer)</DaylightSavings>
                    <TimeZone><TZ>\(device.zone.replacing("<", with: "&lt;"))</TZ></TimeZone>
                    \(Self.element("UTCDateTime", device.utc.map { Self.now + $0 }))
                    \(Self.element("LocalDateTime", device.local.map { Self.now + $0 }))</SystemDateAndTime>
                    """
            } else if let created = text.firstRange(of: "Created>") {
                tokens += 1
                let stated = String(text[created.upperBound...].prefix(20))
                let wanted = UTCTime(secondsSince1970: Self.now + device.checked).text
                if accepts, stated == String(decoding: wanted, as: UTF8.self) { content = Self.services }
            }
            let name = "\(exchange.request.name)"
            let body = content.map { "<\(name)Response>\($0)</\(name)Response>" } ?? Self.fault
            let response = RTSPResponse(
                status: content == nil ? 400 : 200, headers: RTSPHeaders([]),
                body: Array("<Envelope><Body>\(body)</Body></Envelope>".utf8), isHTTP: true)
            do throws(InletError) {
                _ = try session.take(response, at: Self.now)
            } catch {
                #expect(error.code == .authenticationFailed && session.isRefused)
                return (tokens, false)
            }
            if exchange.request == .services, content != nil { return (tokens, true) }
        }
        return (tokens, false)
    }

    private static let services =
        "<Service><Namespace>http://www.onvif.org/ver10/media/wsdl</Namespace><XAddr>http://camera/m</XAddr></Service>"
    private static let fault =
        "<Fault><Code><Value>Sender</Value><Subcode><Value>ter:NotAuthorized</Value></Subcode></Code></Fault>"

    @Test("A token has the time that the device checks, whatever the device states", arguments: devices)
    func token(_ device: Device) throws {
        let (tokens, isAccepted) = try run(device)
        #expect(isAccepted && tokens == device.tokens)
    }

    @Test("A wrong password is sent twice at most, because devices lock accounts", arguments: devices)
    func wrongPassword(_ device: Device) throws {
        let (tokens, isAccepted) = try run(device, accepts: false)
        #expect(!isAccepted && (1...2).contains(tokens))
    }

    @Test("Nothing that a device states as its time stops the session", arguments: [Int64.min, -1, 0, .max])
    func extremes(_ time: Int64) throws {
        _ = try run(Device(utc: 4_000_000_000 - Self.now, local: -Self.now, zone: "X99999999:99", checked: time / 2))
    }
}
