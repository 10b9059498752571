import Inlet
import InletRTSP
import RTSPSource

/// A device in the output of `inlet discover`, with its profiles if requested. Everything is redacted and safe on a
/// terminal.
struct DeviceListing: Encodable {
    var endpoint: String
    var name: String
    var hardware: String
    var location: String
    var addresses: [String]
    /// The profiles; nil if they were not requested, or not reported.
    var profiles: [Profile]?
    /// The seconds by which the device's clock is ahead of this machine's; nil if not requested or not reported.
    var clockOffset: Int64?
    /// The reason for missing profiles; nil if they were not requested, or are present.
    var error: String?

    /// A media profile.
    struct Profile: Encodable {
        var name: String
        var token: String
        /// Empty if the device states none.
        var encoding: String
        var width: Int?
        var height: Int?
        /// The maximum number of pictures a second.
        var frameRate: Double?
        /// The address of the stream; nil if the device states none.
        var address: String?

        init(_ profile: ONVIFProfile) {
            (name, token, encoding) = (profile.title, profile.tokenText, profile.encoding)
            (width, height, frameRate) = (profile.size?.width, profile.size?.height, profile.frameRate)
            address = profile.address.map { "\($0)" }
        }

        /// The cells of the profile's line.
        var cells: [String] {
            let size = width.flatMap { width in height.map { "\(width)x\($0)" } } ?? "-"
            let rate = frameRate.map { $0 == $0.rounded() ? "\(Int($0)) fps" : "\($0) fps" } ?? "-"
            return [name, size, encoding.isEmpty ? "-" : encoding, rate, address ?? "no RTSP address"]
        }
    }

    init(_ device: DiscoveredDevice, _ answer: DeviceLogin.Answer?) {
        (endpoint, name, hardware) = (device.endpoint, device.name, device.hardware)
        (location, addresses) = (device.location, device.addresses)
        clockOffset = answer?.clockOffset
        switch answer?.profiles {
        case .success(let found): profiles = found.map(Profile.init)
        case .failure(let failure): error = failure.message
        case nil: break
        }
    }

    /// Returns one line for each device below a line of headings. A device with several addresses takes several lines,
    /// and each of its profiles one more.
    static func table(of devices: [DeviceListing]) -> String {
        var rows = [["NAME", "HARDWARE", "LOCATION", "ADDRESS"]]
        for device in devices {
            let words = [device.name, device.hardware, device.location].map { $0.isEmpty ? "-" : $0 }
            rows.append(words + [device.addresses.first ?? device.endpoint])
            for address in device.addresses.dropFirst() { rows.append(["", "", "", address]) }
        }
        var lines = aligned(rows)[...]
        let profiles = aligned(devices.flatMap { $0.profiles?.map(\.cells) ?? [] })
        var text = [lines.removeFirst()]
        var next = profiles.startIndex
        for device in devices {
            for _ in 0..<max(1, device.addresses.count) { text.append(lines.removeFirst()) }
            for _ in device.profiles ?? [] {
                text.append("  " + profiles[next])
                next += 1
            }
            if device.profiles?.isEmpty == true { text.append("  no profiles") }
            if let warning = device.clockWarning { text.append("  \(warning)") }
            if let error = device.error { text.append("  \(error)") }
        }
        return text.joined(separator: "\n")
    }

    /// A warning about a clock that is wrong by seconds: comparing recordings of several cameras and signing in by
    /// ONVIF need clocks that agree within seconds. Answers contain whole seconds, and take a fraction of one.
    private var clockWarning: String? {
        guard let clockOffset, clockOffset.magnitude > 2 else { return nil }
        return "its clock is \(clockOffset.magnitude) s \(clockOffset > 0 ? "ahead" : "behind"): set its time server"
    }

    /// Returns a line for each row, with every column padded except the last.
    private static func aligned(_ rows: [[String]]) -> [String] {
        guard let columns = rows.first?.count else { return [] }
        let widths = (0..<(columns - 1)).map { column in rows.map { $0[column].unicodeScalars.count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { text, width in
                text + String(repeating: " ", count: width - text.unicodeScalars.count)
            }
            return (cells + row.suffix(1)).joined(separator: "  ")
        }
    }
}
