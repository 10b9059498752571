import Foundation

/// An ONVIF device: its device service and its media services, which accept what ONVIF's schemas permit alone.
public final class ONVIFDevice: Sendable {
    /// What the device wants to be told of the user.
    public enum Authentication: String, Sendable, CaseIterable {
        case none, token, digest, both
        /// Challenges by HTTP Digest, and takes tokens alone.
        case challengeToken = "challenge-token"
    }

    /// What is odd.
    public enum Fault: String, Sendable, CaseIterable {
        /// There is no GetServices.
        case capabilities
        /// The services are said to be on another host, which does not exist.
        case otherHost = "other-host"
        /// Answers come in chunks with extensions and a trailer, without a length, or byte by byte.
        case chunked, untilEnd = "until-end", oneByte = "one-byte"
        /// In place of answers there is nothing, an endless one, random bytes, a web page, a document type with
        /// entities that multiply, 50,000 nested elements, status 503, the end of the connection.
        case mute, endless, garbage, page, doctype, nested, busy, close
        /// Every path is elsewhere; in a circle; another host has the profiles.
        case redirect, redirectCircle = "redirect-circle", redirectStranger = "redirect-stranger"
        /// The time is not told.
        case noClock = "no-clock"
        /// The second media service, or synchronization points, are refused.
        case refuseMedia2 = "refuse-media2", refusePoint = "refuse-point"
    }

    /// What the device is started with.
    public struct Options: Sendable {
        /// The default is ``Authentication/none``.
        public var authentication = Authentication.none
        /// Whether the services are HTTPS. The default is false.
        public var isTLS = false
        /// By how many seconds the device's clock is ahead. The default is 0.
        public var clock = 0
        /// The media services: `both`, `1`, `2` or `none`. The default is both.
        public var media = "both"
        /// Whether there are events, too. The default is false.
        public var hasEvents = false
        /// The profiles and the addresses of their streams. The default, none, is one called `main`.
        public var profiles: [(token: String, url: String)] = []
        /// The default is none.
        public var faults: [Fault] = []

        public init() {}
    }

    /// A request that the device has read.
    public struct Request: Sendable {
        /// `device`, `media1`, `media2` or `events`.
        public var service: String
        /// The operation.
        public var name: String
        /// The path and query of the address.
        public var path: String
        /// The profile that it names.
        public var profile: String
        /// The kinds of credentials: `Digest`, `UsernameToken`, both one after the other, or none.
        public var credentials: String
        /// Why it is no valid request, or not from the user; empty if nothing is wrong.
        public var trouble: String
        /// The status of the answer.
        public var status: Int
    }

    /// The process, for its log.
    public let process: PeerProcess
    /// The address of the device service.
    public let url: String
    /// The certificate of the authority that vouches for the device, with TLS.
    public let authority: String?

    /// Starts a device and waits until it listens. It needs what `Scripts/bootstrap --test --webrtc` installs.
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

    /// Gives the stream of a profile another address.
    public func move(_ profile: String, to url: String) throws {
        try process.send("move", ["profile": .string(profile), "url": .string(url)])
    }

    /// Changes what a detector sees: `motion`, `cells` (another one of motion), `tampering` or `other`.
    public func detect(_ kind: String, _ isActive: Bool) throws {
        try process.send("detect", ["kind": .string(kind), "isActive": .bool(isActive)])
    }

    /// Ends all subscriptions to events.
    public func expireSubscriptions() throws { try process.send("expire") }

    /// The requests for key frames that were answered with success.
    public var synchronizations: [Request] {
        requests.filter { $0.name == "SetSynchronizationPoint" && $0.status == 200 }
    }
}
