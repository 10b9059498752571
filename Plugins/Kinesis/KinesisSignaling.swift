import Foundation
public import InletCore
public import InletRTC
public import Logging
import Synchronization

/// The signaling of Kinesis Video: a master to which any number of viewers connect, or a viewer that connects to
/// the master.
///
///     let service = try KinesisSignaling(KinesisConfiguration(channel: "porch"))
///     for await case .sessionRequested(let viewer) in service.events() { … }
///
/// Connects at once, and again whenever the connection ends, which AWS does after an hour at the latest. Ends
/// permanently if it is rejected: ``SignalingEvent/closed(_:)`` has the reason. AWS has no presence: a viewer
/// joins with its first message. There is no message for the end of a session, which is noticed by the loss of the
/// peer's path. Safe from any thread.
public final class KinesisSignaling: SignalingService {
    /// The name of the master, for itself and for its viewers.
    public static let masterName = "MASTER"

    /// The name of this side: ``masterName``, or the viewer's client ID.
    public var localID: PeerID { link.dispatcher.localID }
    private let link: KinesisLink
    private let task: Task<Void, Never>

    /// Starts to connect.
    ///
    /// - Parameters:
    ///   - configuration: the channel and the role.
    ///   - logger: the logger for reconnections. The default is `inlet.kinesis`.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the configuration is invalid, or the region unknown.
    public convenience init(
        _ configuration: KinesisConfiguration, logger: Logger = Logger(label: "inlet.kinesis")
    ) throws(InletError) {
        try self.init(configuration, .process, logger)
    }

    init(
        _ configuration: KinesisConfiguration, _ environment: AWSEnvironment, _ logger: Logger
    ) throws(InletError) {
        try configuration.validate()
        let link = try KinesisLink(configuration, environment, logger)
        self.link = link
        task = Task { await link.run() }
    }

    deinit { task.cancel() }

    /// Whether the channel is connected.
    public var isOpen: Bool { link.dispatcher.isOpen }

    /// The reason why the service has ended permanently; nil if it has not, or if this side ended it.
    public var failure: InletError? { link.failure }

    /// Returns the events from now on.
    public func events() -> AsyncStream<SignalingEvent> { link.dispatcher.events() }

    /// Returns the channel for one session with a peer: a viewer if this side is the master, or else the master.
    public func channel(to peer: PeerID) throws(InletError) -> any SignalingChannel {
        try link.dispatcher.channel(to: peer)
    }

    /// Throws: Kinesis Video has no messages about calls.
    public func send(_ message: CallMessage, to peer: PeerID) async throws(SignalingFailure) {
        throw SignalingFailure(
            InletError(.unsupported, "Kinesis Video has no messages about calls."), retryAfter: nil)
    }

    /// Returns AWS's relays and STUN server.
    public func iceServers() async -> [ICEServer] { await link.iceServers() }

    /// Leaves the channel and ends all channels and events.
    public func close() async {
        task.cancel()
        link.finish(nil)
        await task.value
    }

    /// Waits until the channel is connected.
    ///
    /// - Throws: the reason if it cannot be connected, or ``InletError/Code/timedOut`` after the limit.
    func waitUntilOpen(within limit: Duration) async throws(InletError) {
        let events = events()
        let isOpen = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await event in events {
                    if case .opened = event { return true }
                    if case .closed = event { return false }
                }
                return false
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        guard !isOpen else { return }
        throw failure ?? InletError(.timedOut, "Kinesis Video could not be reached in time. Check the network.")
    }
}

/// The channel of a viewer to the master. It reports why the service cannot be reached.
public struct KinesisViewerChannel: SignalingChannel {
    private let service: KinesisSignaling
    private let channel: any SignalingChannel
    /// The master's messages. The stream ends with ``close()``, not with the service: sending a message then fails
    /// with the reason, which is more informative than an end.
    public let incoming: AsyncStream<SignalingMessage>
    private let arrived: AsyncStream<SignalingMessage>.Continuation
    /// Sufficient for a few flows with all of their candidates.
    private static let mostMessages = 256
    private static let (sendingLimit, serverLimit) = (Duration.seconds(15), Duration.seconds(5))

    /// Starts to connect as a viewer.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` as ``KinesisSignaling/init(_:logger:)`` does.
    public init(
        _ configuration: KinesisConfiguration, logger: Logger = Logger(label: "inlet.kinesis")
    ) throws(InletError) {
        try self.init(configuration, .process, logger)
    }

    init(
        _ configuration: KinesisConfiguration, _ environment: AWSEnvironment, _ logger: Logger
    ) throws(InletError) {
        service = try KinesisSignaling(configuration, environment, logger)
        let channel = try service.channel(to: PeerID(KinesisSignaling.masterName))
        self.channel = channel
        let (incoming, arrived) = AsyncStream.makeStream(
            of: SignalingMessage.self, bufferingPolicy: .bufferingNewest(Self.mostMessages))
        (self.incoming, self.arrived) = (incoming, arrived)
        // Ends with the channel.
        Task { for await message in channel.incoming { arrived.yield(message) } }
    }

    /// Returns AWS's relays as soon as the service is connected, or an empty list after five seconds.
    public func iceServers() async -> [ICEServer] {
        try? await service.waitUntilOpen(within: Self.serverLimit)
        return await service.iceServers()
    }

    /// Sends a message to the master, as soon as the service is connected.
    ///
    /// - Throws: ``SignalingFailure`` with the reason if it cannot connect, or cannot within 15 seconds.
    public func send(_ message: SignalingMessage) async throws(SignalingFailure) {
        do {
            try await service.waitUntilOpen(within: Self.sendingLimit)
        } catch {
            throw SignalingFailure(error, retryAfter: nil)
        }
        try await channel.send(message)
    }

    /// Ends the channel and the service.
    public func close() async {
        arrived.finish()
        await channel.close()
        await service.close()
    }
}
