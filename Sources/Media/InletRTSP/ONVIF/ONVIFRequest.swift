import InletCore

/// A request to a service of an ONVIF device, in SOAP 1.2.
package enum ONVIFRequest: Sendable, Equatable {
    /// The time of the device (Core Specification, `GetSystemDateAndTime`), which needs no authentication.
    case clock
    /// The services and their addresses (Core Specification, `GetServices`).
    case services
    /// The same for devices from before 2011 (`GetCapabilities`).
    case capabilities
    /// The media profiles, with what their pictures are encoded as.
    case profiles(MediaVersion)
    /// The RTSP address of a profile, which is given by its token.
    case streamURI(MediaVersion, profile: [UInt8])
    /// A key frame in all streams of a profile (Media Service Specification, `SetSynchronizationPoint`).
    case synchronizationPoint(MediaVersion, profile: [UInt8])

    /// A subscription to events (Core Specification, `CreatePullPointSubscription`).
    case createPullPoint
    /// The next events of a subscription (`PullMessages`).
    case pullMessages
    /// A longer life of a subscription (OASIS WS-BaseNotification 1.3, section 6.1.1).
    case renew
    /// The end of a subscription (section 6.1.2).
    case unsubscribe

    /// The two media services of ONVIF, of which a device has either or both.
    package enum MediaVersion: Sendable, Equatable {
        /// `ver10`, of profile S.
        case media1
        /// `ver20`, of profile T.
        case media2

        /// The service's namespace.
        var namespace: StaticString {
            switch self {
            case .media1: "http://www.onvif.org/ver10/media/wsdl"
            case .media2: "http://www.onvif.org/ver20/media/wsdl"
            }
        }
    }

    /// The name of the operation; the answer's element has `Response` appended.
    package var name: StaticString {
        switch self {
        case .clock: "GetSystemDateAndTime"
        case .services: "GetServices"
        case .capabilities: "GetCapabilities"
        case .profiles: "GetProfiles"
        case .streamURI: "GetStreamUri"
        case .synchronizationPoint: "SetSynchronizationPoint"
        case .createPullPoint: "CreatePullPointSubscription"
        case .pullMessages: "PullMessages"
        case .renew: "Renew"
        case .unsubscribe: "Unsubscribe"
        }
    }

    private var namespace: StaticString {
        switch self {
        case .clock, .services, .capabilities: "http://www.onvif.org/ver10/device/wsdl"
        case .profiles(let version), .streamURI(let version, _), .synchronizationPoint(let version, _):
            version.namespace
        case .createPullPoint, .pullMessages: "http://www.onvif.org/ver10/events/wsdl"
        case .renew, .unsubscribe: "http://docs.oasis-open.org/wsn/b-2"
        }
    }

    /// The name of the request in the WSDL of its service.
    private var action: String {
        switch self {
        case .createPullPoint: "\(namespace)/EventPortType/\(name)Request"
        case .pullMessages: "\(namespace)/PullPointSubscription/\(name)Request"
        case .renew, .unsubscribe: "http://docs.oasis-open.org/wsn/bw-2/SubscriptionManager/\(name)Request"
        default: "\(namespace)/\(name)"
        }
    }

    /// Whether the request names its action and its target in the header, as events need (WS-Addressing 1.0).
    private var isAddressed: Bool {
        switch self {
        case .createPullPoint, .pullMessages, .renew, .unsubscribe: true
        default: false
        }
    }

    /// The value of `Content-Type` (RFC 3902).
    package var contentType: String {
        #"application/soap+xml; charset=utf-8; action="\#(action)""#
    }

    /// Returns the envelope.
    ///
    /// - Parameters:
    ///   - security: the element with the credentials; nil to send no credentials.
    ///   - target: the address of the service.
    ///   - references: elements that belong to the address of a subscription, for its header.
    package func envelope(security: [UInt8]?, to target: RTSPURL, references: [[UInt8]] = []) -> [UInt8] {
        var text = Array(
            #"<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope">"#
                .utf8)
        var header = security ?? []
        if isAddressed {
            let addressing = "xmlns:a=\"http://www.w3.org/2005/08/addressing\""
            header += "<a:Action \(addressing)>\(action)</a:Action><a:To \(addressing)>".utf8
            header += XMLReader.escaped(target.httpText) + "</a:To>".utf8
            if self != .createPullPoint { header += references.joined() }
        }
        if !header.isEmpty { text += "<s:Header>".utf8 + header + "</s:Header>".utf8 }
        text += #"<s:Body><\#(name) xmlns="\#(namespace)">"#.utf8
        text += content
        text += "</\(name)></s:Body></s:Envelope>".utf8
        return text
    }

    private var content: [UInt8] {
        switch self {
        case .clock, .profiles(.media1), .unsubscribe: []
        // Without a type, the answer contains only the names of the profiles.
        case .profiles(.media2): Array("<Type>VideoEncoder</Type>".utf8)
        case .services: Array("<IncludeCapability>false</IncludeCapability>".utf8)
        case .capabilities: Array("<Category>All</Category>".utf8)
        case .streamURI(.media1, let profile):
            Array(
                """
                <StreamSetup><Stream xmlns="http://www.onvif.org/ver10/schema">RTP-Unicast</Stream>\
                <Transport xmlns="http://www.onvif.org/ver10/schema"><Protocol>RTSP</Protocol></Transport></StreamSetup>
                """.utf8) + Self.element(profile)
        case .streamURI(.media2, let profile): Array("<Protocol>RTSP</Protocol>".utf8) + Self.element(profile)
        case .synchronizationPoint(_, let profile): Self.element(profile)
        case .createPullPoint:
            Array("<InitialTerminationTime>PT\(ONVIFSession.subscriptionLength)S</InitialTerminationTime>".utf8)
        case .pullMessages:
            Array(
                "<Timeout>PT\(ONVIFSession.pullLength)S</Timeout><MessageLimit>\(ONVIFSession.pullLimit)</MessageLimit>"
                    .utf8)
        case .renew: Array("<TerminationTime>PT\(ONVIFSession.subscriptionLength)S</TerminationTime>".utf8)
        }
    }

    private static func element(_ profile: [UInt8]) -> [UInt8] {
        Array("<ProfileToken>".utf8) + XMLReader.escaped(profile) + "</ProfileToken>".utf8
    }
}
