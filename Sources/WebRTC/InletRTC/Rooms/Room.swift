import InletCore
import InletSystem
import Synchronization

/// The participants of a room of a signaling service, and their active tracks. Safe from any thread.
///
///     let room = Room(service)
///     await room.publish([RoomTrack(name: "camera", isOn: true)])
///     for await event in room.events() { print(event) }
///
/// Each participant reports its tracks to the others when it changes them, to each newcomer, and again every 10
/// seconds, because signaling may lose messages. ``close()`` must be called in the end.
public actor Room {
    private let service: any SignalingService
    private var roster: RoomRoster
    private var tracks: [RoomTrack] = []
    private var number = 0
    private var hasPublished = false
    private let interval: Duration
    private nonisolated let subscribers = Broadcaster<RoomEvent>(limit: 256)
    private nonisolated let pumps = Mutex<[Task<Void, Never>]>([])

    /// Enters the list of participants of a service.
    ///
    /// - Parameters:
    ///   - service: the service. The application opens and closes it.
    ///   - most: the maximum number of other participants; further ones are ignored. The default is 64.
    ///   - interval: the interval at which the others get the tracks again. The default is 10 seconds.
    public init(_ service: any SignalingService, most: Int = 64, interval: Duration = .seconds(10)) {
        self.service = service
        self.interval = max(.milliseconds(1), interval)
        roster = RoomRoster(most: most)
        let events = service.events()
        let time = self.interval
        let taking = Task { [weak self] in for await event in events { await self?.take(event) } }
        let repeating = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: time)
                guard !Task.isCancelled else { return }
                await self?.tellAll()
            }
        }
        pumps.withLock { $0 = [taking, repeating] }
    }

    /// All participants except this side, in the order of their names.
    public var participants: [RoomParticipant] { roster.participants }

    /// Returns the events from now on; each call returns a separate stream, which ends with the room. A slow reader
    /// loses the oldest events.
    public nonisolated func events() -> AsyncStream<RoomEvent> { subscribers.stream() }

    /// Sends this side's tracks to the others, at most ``RoomTrack/most``; names are cut to ``RoomTrack/longestName``
    /// bytes.
    public func publish(_ tracks: [RoomTrack]) async {
        self.tracks = tracks.prefix(RoomTrack.most).map {
            RoomTrack(name: $0.name.sanitized(limit: RoomTrack.longestName), isOn: $0.isOn)
        }
        hasPublished = true
        number += 1
        await tellAll()
    }

    /// Leaves the list. The service continues.
    public func close() {
        for task in pumps.withLock({ $0 }) { task.cancel() }
        subscribers.finish()
    }

    private func take(_ event: SignalingEvent) async {
        switch event {
        case .opened(let peers):
            tell(roster.present(peers))
            await tellAll()
        case .joined(let peer):
            tell(roster.joined(peer))
            await tell(peer)
        case .left(let peer): tell(roster.left(peer))
        case .reset(let peer):
            tell(roster.reset(peer))
            await tell(peer)
        case .call(let message, let peer):
            guard case .tracks(let tracks, let number) = message.content else { return }
            tell(roster.tracks(tracks, number: number, of: peer))
        case .closed: subscribers.finish()
        case .interrupted, .sessionRequested: break
        }
    }

    private func tell(_ events: [RoomEvent]) { for event in events { subscribers.send(event) } }

    private func tellAll() async { for participant in roster.participants { await tell(participant.id) } }

    private func tell(_ peer: PeerID) async {
        guard hasPublished else { return }
        // Lost messages are repeated by the interval.
        try? await service.send(CallMessage(Self.call, .tracks(tracks, number: number)), to: peer)
    }

    /// The name under which tracks of the room are sent, in addition to those of calls.
    private static let call = CallID.room
}
