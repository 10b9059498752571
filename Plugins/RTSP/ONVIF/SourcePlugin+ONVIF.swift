public import InletCore
import InletDecode
import InletFFmpeg
import InletNetwork
import InletRTSP

extension SourcePlugin {
    /// The plug-in for `onvif://` and `onvifs://`: network cameras found by their ONVIF device service, over HTTP or
    /// HTTPS.
    public static let onvif = SourcePlugin(
        PluginInfo(
            name: "onvif", schemes: ["onvif", "onvifs"],
            summary: "Network cameras whose streams are found by ONVIF.",
            usage: "onvif://USER@HOST[:PORT]/?profile=NAME; the path, if any, is that of the device service",
            options: ONVIFOptions.all,
            examples: [
                "onvif://viewer@camera/?password-file=/run/secrets/camera",
                "onvif://viewer@192.0.2.7:8080/?profile=sub&password-env=CAMERA",
            ])
    ) { uri, values in
        let address = try NetworkAddress("\(uri.scheme):\(uri.rest)")
        guard address.origin != nil else {
            throw InletError(.invalidConfiguration, "The host or the port of the address is invalid. Check both.")
        }
        var configuration = ONVIFConfiguration(device: ONVIFOptions.service(address))
        configuration.profile = values[ONVIFOptions.profile]
        RTSPOptions.apply(values, to: &configuration.stream)
        configuration.stream.user = configuration.stream.user ?? address.user
        configuration.stream.password = configuration.stream.password ?? address.password
        guard configuration.stream.password == nil || configuration.stream.user != nil else {
            throw InletError(.invalidConfiguration, "There is a password but no user. Write onvif://USER@HOST/.")
        }
        _ = try configuration.settings()
        // Validates the combinations of options. Encryption at the device does not require encryption of the stream.
        var stream = configuration.stream
        (stream.url, stream.onvif) = ("rtsp://host/", configuration.device)
        _ = try stream.sessionConfiguration(KeepAliveMemory())
        return configuration
    }
}

private enum ONVIFOptions {
    static let profile = PluginOption<String?>(
        "profile", default: nil, "The name or token of the media profile; by default the camera's first one",
        range: "NAME"
    ) { $0.map { !$0.isEmpty } ?? true }

    static let all = [profile.description] + RTSPOptions.shared

    /// Returns the address of the device service.
    static func service(_ address: NetworkAddress) -> String {
        let host = address.location.prefix(upToByte: "/")
        let path = address.location[host.endIndex...]
        let isSecure = address.scheme.isSameBytes(as: "onvifs")
        let plain = path.isEmpty || path.isSameBytes(as: "/")
        return "\(isSecure ? "https" : "http")://\(host)"
            + (plain ? String(decoding: RTSPURL.deviceService, as: UTF8.self) : String(path))
    }
}
