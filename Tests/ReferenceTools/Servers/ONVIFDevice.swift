import Foundation

/// An ONVIF device with its device service and media services. They accept only requests that ONVIF's schemas permit.
public final class ONVIFDevice: Sendable {
    /// The credentials that the device requires.
    public enum Authentication: String, Sendable, CaseIterable {
        case none, token, digest, both
        /// Challenges with HTTP Digest but accepts only tokens.
        case challengeToken = "challenge-token"
    }

    /// The faults of the device.
    public enum Fault: String, Sendable, CaseIterable {
        /// GetServices is not supported.
        case capabilities
        /// The stated services are on a nonexistent host.
        case otherHost = "other-host"
        /// Answers come in chunks with extensions and a trailer; without a length; byte by byte.
        case chunked, untilEnd = "until-end", oneByte = "one-byte"
        /// Instead of an answer, the device sends nothing, an endless answer, random bytes, a web page, a document type
        /// with multiplying entities, 50,000 nested elements, status 503, or closes the connection.
        case mute, endless, garbage, page, doctype, nested, busy, close
        /// The device redirects every path to another one; in a circle; to another host, which has the profiles.
        case redirect, redirectCircle = "redirect-circle", redirectStranger = "redirect-stranger"
        /// The device doesn't tell its time.
        case noClock = "no-clock"
        /// The device refuses the second media service; synchronization points.
        case refuseMedia2 = "refuse-media2", refusePoint = "refuse-point"
    }

    /// Options of the device.
    public struct Options: Sendable {
        /// The default is ``Authentication/none``.
        public var authentication = Authentication.none
        /// Whether the services use HTTPS. The default is false.
        public var isTLS = false
        /// How many seconds the device's clock is ahead. The default is 0.
        public var clock = 0
        /// The media services: `both`, `1`, `2` or `none`. The default is both.
        public var media = "both"
        /// Whether the device supports events. The default is false.
        public var hasEvents = false
        /// The profiles and the addresses of their streams. The default is an empty list: one profile called `main`.
        public var profiles: [(token: String, url: String)] = []
        /// The faults. The default is an empty list.
        public var faults: [Fault] = []

        public init() {}
    }

    /// A request that the device received.
    public struct Request: Sendable {
        /// `device`, `media1`, `media2` or `events`.
        public var service: String
        /// The operation.
        public var name: String
        /// The path and query of the address.
        public var path: String
        /// The profile in the request.
        public var profile: String
        /// The kinds of credentials: `Digest`, `UsernameToken`, both in sequence, or empty.
        public var credentials: String
        /// The reason why the request is invalid or unauthorized; empty if it is correct.
        public var trouble: String
        /// The status of the answer.
        public var status: Int
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The address of the device service.
    public let url: String
    /// The certificate of the device's authority, with TLS.
    public let authority: String?

    /// Starts a device and waits until it listens. It needs the packages that `Scripts/bootstrap --test --webrtc`
    /// installs.
    ///
    /// - Throws: ``PeerProcess/Failure``.
    public init(_ options: Options = Options()) throws {
        var arguments = [
            "--auth", options.authentication.rawValue, "--clock=\(options.clock)", "--media", options.media,
        ]
        for profile in options.profiles { arguments += ["--profile", "\(profile.token)=\(profile.url)"] }
        for fault in options.faults { arguments += ["--fault", fault.rawValue] }
        if options.isTLS { arguments.append("--tls") }
        if options.hasEvents { arguments.append("--events") }
        process = try PeerProcess("onvif-device.py", arguments, python: RTSPTunnel.python ?? "/usr/bin/python3")
        url = process.ready["url"]?.text ?? ""
        authority = process.ready["ca"]?.text
    }

    /// The requests so far.
    public var requests: [Request] {
        if process.isRunning { _ = try? process.send("report") }
        return process.events.filter { $0["event"] == .string("request") }.map { event in
            let trouble = [event["invalid"], event["refused"]].compactMap { $0?.text }.filter { !$0.isEmpty }
            return Request(
                service: event["service"]?.text ?? "", name: event["name"]?.text ?? "",
                path: event["path"]?.text ?? "", profile: event["token"]?.text ?? "",
                credentials: event["auth"]?.text ?? "", trouble: trouble.joined(separator: ", "),
                status: event["status"]?.int ?? 0)
        }
    }

    /// Changes the address of a profile's stream.
    public func move(_ profile: String, to url: String) throws {
        try process.send("move", ["profile": .string(profile), "url": .string(url)])
    }

    /// Changes the state of a detector: `motion`, `cells` (another motion detector), `tampering` or `other`.
    public func detect(_ kind: String, _ isActive: Bool) throws {
        try process.send("detect", ["kind": .string(kind), "isActive": .bool(isActive)])
    }

    /// Ends all subscriptions to events.
    public func expireSubscriptions() throws { try process.send("expire") }

    /// The successful requests for key frames.
    public var synchronizations: [Request] {
        requests.filter { $0.name == "SetSynchronizationPoint" && $0.status == 200 }
    }
}
