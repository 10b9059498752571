import InletCore

/// Subscribes to events and pulls them (ONVIF Core Specification, section "Real-time Pull-Point Notification
/// Interface"; OASIS WS-BaseNotification 1.3).
extension ONVIFSession {
    /// The subscription to the events of a device.
    struct Events: Sendable {
        /// The event service; nil until it is found.
        var service: RTSPURL?
        /// The address of the subscription; nil without a subscription.
        var subscription: RTSPURL?
        /// The elements that requests to the subscription carry in their header.
        var references: [[UInt8]] = []
        /// The notices that were pulled and not yet taken.
        var notices: [ONVIFNotice] = []
    }

    /// The time for which a subscription lasts unless it is renewed, in seconds.
    package static let subscriptionLength = 60
    /// The time for which a device may wait for an event before it answers a pull, in seconds.
    package static let pullLength = 10
    /// The most elements that requests to a subscription carry.
    private static let mostReferences = 4
    /// The most messages of one answer.
    static let pullLimit = 64

    /// Returns the notices pulled since the last call.
    package mutating func takeNotices() -> [ONVIFNotice] {
        defer { events.notices = [] }
        return events.notices
    }

    /// Whether a device is subscribed to.
    package var isSubscribed: Bool { events.subscription != nil }

    /// Returns the next request for events; nil if there is nothing left to do.
    func nextEventRequest() -> (ONVIFRequest, RTSPURL)? {
        guard let subscription = events.subscription else {
            guard !isEnding else { return nil }
            return events.service.map { (.createPullPoint, $0) }
        }
        if isEnding { return (.unsubscribe, subscription) }
        return (wantsRenewal ? .renew : .pullMessages, subscription)
    }

    /// Takes the services, among which the event service is.
    ///
    /// - Returns: whether it is there.
    mutating func takeEventService(_ element: XMLElement) -> Bool {
        events.service = element.eventAddress.flatMap { settings.device.service(at: $0) }
        return events.service != nil
    }

    /// Takes the answer to a request for events.
    mutating func takeEvents(_ element: XMLElement, of request: ONVIFRequest) throws(InletError) {
        switch request {
        case .createPullPoint:
            let reference = element.child("SubscriptionReference")
            let parameters = ["ReferenceParameters", "ReferenceProperties"].flatMap { (name: StaticString) in
                reference?.child(name)?.children.map(\.reference) ?? []
            }
            events.references = Array(parameters.filter { !$0.isEmpty }.prefix(Self.mostReferences))
            let address = (reference?.child("Address")?.text).flatMap { settings.device.service(at: $0) }
            // Some devices distinguish subscriptions only by their parameters.
            let isShared = !events.references.isEmpty
            guard let subscription = address ?? (isShared ? events.service : nil) else {
                throw InletError(.malformedData, "The ONVIF device states no address for the subscription to events.")
            }
            (events.subscription, wantsRenewal) = (subscription, false)
        case .pullMessages: events.notices += ONVIFNotice.notices(in: element)
        case .renew: wantsRenewal = false
        case .unsubscribe: events.subscription = nil
        default: break
        }
    }
}
