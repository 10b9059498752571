import Inlet
import InletHTTPServer

/// The return path of pictures that were sent by a sink.
enum LatencyReturn {
    /// The options of `webrtc:` that its viewer needs, too.
    private static let shared: Set<String> = ["token", "token-file", "token-env"]

    /// Returns the source that reads a sink's output.
    static func source(of sink: String, in registry: PluginRegistry) throws -> any FrameSourceConfiguration {
        if sink.hasBytePrefix("shm:") {
            return SharedMemoryReturn(
                name: String(sink.dropFirst("shm:".utf8.count).prefix(upToByte: "?")))
        }
        return try registry.source(address(of: sink))
    }

    /// Returns the URI of the source that reads a sink's output: the same address, except for `webrtc:`, whose pictures
    /// are viewed by WHEP.
    static func address(of sink: String) throws(InletError) -> String {
        guard sink.hasBytePrefix("webrtc:") else { return sink }
        let parts = sink.dropFirst("webrtc:".utf8.count).split(atByte: "?", limit: 1)
        let place = try ListenAddress(String(parts[0]), scheme: "webrtc")
        let host = place.host ?? "127.0.0.1"
        // A server at all addresses is reached at the loopback's.
        let reached = host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host
        let options = (parts.count > 1 ? parts[1] : "").split(atByte: "&").filter { option in
            shared.contains(String(option.prefix(upToByte: "=")))
        }
        let shown = reached.contains(byte: ":") ? "[\(reached)]" : reached
        let query = options.isEmpty ? "" : "?" + options.joined(separator: "&")
        return "whep+http://\(shown):\(place.port ?? 8091)/whep\(query)"
    }
}
