public import InletCore
import Synchronization

/// A client's request for admission.
public struct AdmissionRequest: Sendable, Hashable {
    /// The purpose of a request.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// To see the pictures.
        case viewer
        /// A call.
        case call
        /// To send pictures, to `whip:`.
        case publisher
    }

    /// The purpose.
    public var kind: Kind
    /// The name that the client gives itself, unverified unless signaling checks it; nil if it gives none.
    public var name: String?
    /// The client's address without its port; nil if it is unknown.
    public var address: String?
    /// The number of present clients of the kind.
    public var present: Int
    /// Whether a client of this name is present.
    public var isNamesake: Bool

    public init(kind: Kind, name: String? = nil, address: String? = nil, present: Int = 0, isNamesake: Bool = false) {
        self.kind = kind
        self.name = name
        self.address = address
        self.present = present
        self.isNamesake = isNamesake
    }
}

/// The permissions of an admitted client in addition to seeing the pictures, or of a publisher in addition to sending
/// them.
public struct AdmissionPermissions: OptionSet, Sendable, Hashable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It may send and receive messages over data channels, if those are permitted at all.
    public static let messages = AdmissionPermissions(rawValue: 1)
    /// It may see the pictures, and nothing else.
    public static let viewOnly: AdmissionPermissions = []
    /// Everything.
    public static let all: AdmissionPermissions = [.messages]
}

/// The answer to a client that requests admission.
public enum AdmissionDecision: Sendable, Hashable {
    /// The client is admitted, with these permissions.
    case accept(AdmissionPermissions)
    /// The client is declined, for this reason, which is sent to it; of at most ``CallMessage/longestReason`` bytes.
    case decline(reason: String?)
    /// The client is refused for now; it may ask again after that time, if one is given.
    case busy(retryAfter: Duration?)
}

/// Decides which viewers, publishers and calls are admitted: first by fixed rules, then by the application, which has a
/// deadline.
///
/// The limits that protect the process, such as the maximum number of viewers at one address, apply before and in
/// addition.
public struct Admission: Sendable {
    /// The treatment of a client with the name of a present client.
    public enum Namesakes: String, Sendable, Hashable, CaseIterable {
        /// It is admitted.
        case allowed
        /// It is declined.
        case declined
        /// It is admitted, and the present one is disconnected.
        case replace
    }

    /// The maximum number of clients present at a time; further ones get the answer busy. The default, nil, is no
    /// limit.
    public var most: Int?
    /// The treatment of a client whose name is present already. The default is ``Namesakes/allowed``.
    public var namesakes = Namesakes.allowed
    /// Whether a client must give a name. The default is false.
    public var requiresName = false
    /// The time for the decision. The default is 5 seconds.
    public var deadline = Duration.seconds(5)
    /// The answer if no decision is made in time. The default is to be busy, with a retry after 5 seconds.
    public var late = AdmissionDecision.busy(retryAfter: .seconds(5))
    /// Decides about a client that the rules admit. Several may be asked at once. It is cancelled after the
    /// ``deadline``. The default admits every client, with all permissions.
    public var decide: (@Sendable (AdmissionRequest) async -> AdmissionDecision)?

    /// The longest name of a client, in bytes.
    public static let longestName = 256
    private static let retry = Duration.seconds(5)

    /// Creates an admission that admits every client.
    ///
    /// - Parameter decide: decides about a client. The default admits every client.
    public init(_ decide: (@Sendable (AdmissionRequest) async -> AdmissionDecision)? = nil) { self.decide = decide }

    /// Checks the limit and the deadline.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for a limit below 1, or a deadline that is not above zero and
    ///   at most 8 seconds: browsers and callers wait for some 10.
    public func validate() throws(InletError) {
        if let most, most < 1 {
            throw InletError(.invalidConfiguration, "most: at least one may be let in, not \(most).")
        }
        guard deadline > .zero, deadline <= .seconds(8) else {
            throw InletError(
                .invalidConfiguration, "deadline: a decision takes above zero and at most 8 seconds, not \(deadline).")
        }
    }

    /// Returns the decision of the rules; nil if the application decides.
    public func ruling(on request: AdmissionRequest) -> AdmissionDecision? {
        if requiresName, request.name?.isEmpty != false { return .decline(reason: "A name is required.") }
        if request.isNamesake, namesakes == .declined {
            return .decline(reason: "Somebody of this name is there already.")
        }
        let replaces = request.isNamesake && namesakes == .replace
        if let most, request.present - (replaces ? 1 : 0) >= most { return .busy(retryAfter: Self.retry) }
        return decide == nil ? .accept(.all) : nil
    }

    /// Returns the decision, within the ``deadline``.
    public func decision(on request: AdmissionRequest) async -> AdmissionDecision {
        if let ruling = ruling(on: request) { return ruling }
        guard let decide else { return .accept(.all) }
        let (deadline, late) = (deadline, late)
        // The first answer counts, because a decision may ignore its cancellation.
        let (answers, answer) = AsyncStream.makeStream(of: AdmissionDecision.self, bufferingPolicy: .bufferingOldest(1))
        let deciding = Task { answer.yield(await decide(request)) }
        let waiting = Task {
            try? await Task.sleep(for: deadline)
            answer.yield(late)
        }
        defer {
            deciding.cancel()
            waiting.cancel()
        }
        for await decision in answers { return decision }
        return late
    }
}
