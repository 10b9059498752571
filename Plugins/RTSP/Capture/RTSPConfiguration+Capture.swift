import InletCore
import InletFFmpeg
import InletNetwork
import InletRTSP

/// The part of a configuration that determines a session, as stored in captures.
extension RTSPConfiguration {
    /// Returns the first line of a capture.
    ///
    /// - Parameters:
    ///   - now: the time of the monotonic clock.
    ///   - started: this machine's time of day in nanoseconds since 1970.
    func captureHeader(_ redactor: CaptureRedactor, at now: MonotonicTime, started: Int64) -> CaptureHeader {
        var header = CaptureHeader()
        header["clock"] = "\(now.nanoseconds)"
        header["started"] = "\(started)"
        header["inlet"] = InletVersion.current
        let address = try? NetworkAddress(url)
        header["url"] = address.map {
            String(decoding: redactor.redact(address: Array($0.withoutCredentials.utf8)), as: UTF8.self)
        }
        header["credentials"] = (user ?? address?.user) == nil ? "no" : "yes"
        header["share-credentials"] = sharesCredentials ? "yes" : "no"
        header["basic-auth"] = basicAuthentication.rawValue
        header["transport"] = transport.rawValue
        header["key-frames"] = keyFrameRequests.rawValue
        header["latency"] = "\(latency.wholeNanoseconds)"
        header["connect-timeout"] = "\(connectTimeout.wholeNanoseconds)"
        header["first-timeout"] = "\(firstTimeout.wholeNanoseconds)"
        header["read-timeout"] = "\(readTimeout.wholeNanoseconds)"
        if memory?.beginsWithOptions == true { header["options-first"] = "yes" }
        header["stream"] = stream.map { "\($0)" }
        return header
    }

    /// Creates the configuration of a captured session. Missing or invalid values get their defaults.
    ///
    /// - Throws: ``InletError/Code/malformedData`` if the address is missing.
    init(captured header: CaptureHeader) throws(InletError) {
        guard let url = header["url"] else {
            throw InletError(.malformedData, "The capture is damaged: it does not state the session's address.")
        }
        self.init(url: url)
        // Without any credentials a challenge would end the session. Their values make no difference.
        if header["credentials"] == "yes" { (user, password) = ("user", "password") }
        sharesCredentials = header["share-credentials"] == "yes"
        basicAuthentication =
            header["basic-auth"].flatMap { BasicAuthentication(rawValue: $0) } ?? basicAuthentication
        transport = header["transport"].flatMap { Transport(rawValue: $0) } ?? transport
        keyFrameRequests = header["key-frames"].flatMap { KeyFrameRequests(rawValue: $0) } ?? keyFrameRequests
        latency = Self.time(header["latency"], upTo: .seconds(10)) ?? latency
        connectTimeout = Self.time(header["connect-timeout"], upTo: .seconds(86_400)) ?? connectTimeout
        firstTimeout = Self.time(header["first-timeout"], upTo: .seconds(86_400)) ?? firstTimeout
        readTimeout = Self.time(header["read-timeout"], upTo: .seconds(86_400)) ?? readTimeout
        stream = header["stream"].flatMap { Int($0) }.flatMap { (0...1000).contains($0) ? $0 : nil }
        if header["options-first"] == "yes" {
            let memory = ServerMemory()
            memory.beginsWithOptions = true
            self.memory = memory
        }
    }

    private static func time(_ text: String?, upTo most: Duration) -> Duration? {
        guard let text, let nanoseconds = Int64(text) else { return nil }
        let time = Duration.nanoseconds(nanoseconds)
        return time >= .zero && time <= most ? time : nil
    }
}
