public import InletCore
import InletSystem
import Synchronization

/// Places and receives calls over a signaling service, and connects media for those that are answered.
///
///     let calls = try CallController(service, media: media)
///     let call = await calls.place(try PeerID("ben"))
///     for await case .changed(let call) in calls.events() { print(call.state) }
///
/// It reads the service's events from its creation on, so create it before the service is opened, or right after.
/// ``close()`` must be called in the end.
public actor CallController {
    /// The name by which others call this side.
    public nonisolated let localID: PeerID
    private let service: any SignalingService
    private let media: any CallMedia
    private let admission: Admission
    private var machine: CallStateMachine
    private var known: [CallID: Call] = [:]
    /// The ended calls, oldest first.
    private var over: [CallID] = []
    private var sessions: [CallID: any CallMediaSession] = [:]
    private var closing: [CallID: Task<Void, Never>] = [:]
    private var timer: Task<Void, Never>?
    private var timerDeadline: MonotonicTime?
    private var isClosed = false
    private nonisolated let subscribers = Broadcaster<CallEvent>(limit: 256)
    private nonisolated let outgoing: AsyncStream<(CallMessage, PeerID)>.Continuation
    /// The tasks that receive the service's events and send messages.
    private nonisolated let pumps = Mutex<(receiving: Task<Void, Never>, sending: Task<Void, Never>)?>(nil)
    /// Resumed after each input, while the controller closes.
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// Messages that are not sent in time are repeated.
    private static let mostUnsent = 256
    private static let mostRemembered = 64

    /// Creates a controller, which can be called from now on.
    ///
    /// - Parameters:
    ///   - service: the signaling service. The application opens and closes it.
    ///   - policy: the time-outs, and the treatment of a second call. The default is that of ``CallPolicy``.
    ///   - admission: decides which calls ring. The default is all.
    ///   - media: connects the pictures.
    /// - Throws: ``InletError/Code/invalidConfiguration`` as ``CallPolicy/validate()`` does.
    public init(
        _ service: any SignalingService, policy: CallPolicy = CallPolicy(), admission: Admission = Admission(),
        media: any CallMedia
    ) throws(InletError) {
        try policy.validate()
        try admission.validate()
        localID = service.localID
        self.service = service
        self.media = media
        self.admission = admission
        machine = CallStateMachine(policy, localID: service.localID)
        let (messages, outgoing) = AsyncStream.makeStream(
            of: (CallMessage, PeerID).self, bufferingPolicy: .bufferingOldest(Self.mostUnsent))
        self.outgoing = outgoing
        let events = service.events()
        let receiving = Task { [weak self] in
            for await event in events { await self?.take(event) }
        }
        // A message that cannot be sent is repeated, or ends in a time-out.
        let sending = Task { for await (message, peer) in messages { try? await service.send(message, to: peer) } }
        pumps.withLock { $0 = (receiving, sending) }
    }

    /// Returns the events from now on; each call returns a separate stream, which ends with the controller. A slow
    /// reader loses the oldest events.
    public nonisolated func events() -> AsyncStream<CallEvent> { subscribers.stream() }

    /// The running calls, in the order of their names.
    public var calls: [Call] { known.values.filter(\.state.isRunning).sorted { $0.id < $1.id } }

    /// Returns a call that runs or has ended recently.
    public func call(_ id: CallID) -> Call? { known[id] }

    // MARK: The application

    /// Calls a peer. The call ends at once, as busy by this side, if another runs.
    ///
    /// - Returns: the call's name. If the peer calls at the same time, ``CallEvent/joined(_:into:)`` reports the name
    ///   under which the one call continues.
    @discardableResult public func place(_ peer: PeerID) -> CallID {
        let id = CallID()
        known[id] = Call(id: id, peer: peer, isOutgoing: true, state: .calling)
        handle(.place(id, peer))
        return id
    }

    /// Answers a ringing call; a running call is hung up. Does nothing to others.
    public func answer(_ call: CallID) { handle(.answer(call)) }

    /// Declines a ringing call, with a reason for the caller. Does nothing to others.
    public func decline(_ call: CallID, reason: String? = nil) { handle(.decline(call, reason)) }

    /// Reports to the caller of a ringing call that this side is busy. Has no effect on others.
    public func refuse(_ call: CallID, retryAfter: Duration? = nil) {
        handle(.refuse(call, retryAfter: retryAfter))
    }

    /// Ends a call: cancels it, declines it or hangs up, depending on its state.
    public func hangUp(_ call: CallID) { handle(.hangUp(call)) }

    /// Ends all calls, waits until the peers agree on how, and accepts no more. Takes ``CallPolicy/ending`` at most,
    /// and the time to close media.
    public func close() async {
        guard !isClosed else { return }
        for call in machine.running { handle(.hangUp(call)) }
        await settle()
        isClosed = true
        for waiter in waiters { waiter.resume() }
        waiters = []
        timer?.cancel()
        for task in closing.values { await task.value }
        outgoing.finish()
        let pumps = pumps.withLock { $0 }
        pumps?.receiving.cancel()
        await pumps?.sending.value
        subscribers.finish()
    }

    /// Waits until the peers of all calls that have ended for this side agree on how they ended. Takes
    /// ``CallPolicy/ending`` at most.
    public func settle() async {
        while machine.isSettling, !isClosed { await withCheckedContinuation { waiters.append($0) } }
    }

    // MARK: Inputs

    private func take(_ event: SignalingEvent) {
        switch event {
        case .call(let message, let peer): handle(.message(message, from: peer))
        case .joined(let peer): handle(.present(peer))
        case .opened(let peers): for peer in peers { handle(.present(peer)) }
        case .left(let peer): handle(.absent(peer))
        case .reset(let peer): handle(.reset(peer))
        case .interrupted, .sessionRequested, .closed: break
        }
    }

    private func handle(_ input: CallStateMachine.Input) {
        guard !isClosed else { return }
        for action in machine.handle(input, at: .now) { perform(action) }
        schedule()
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.resume() }
    }

    private func schedule() {
        guard machine.deadline != timerDeadline else { return }
        timer?.cancel()
        timerDeadline = machine.deadline
        timer = machine.deadline.map { deadline in
            Task { [weak self] in
                try? await Task.sleep(for: max(.zero, deadline - .now))
                if !Task.isCancelled { await self?.tick() }
            }
        }
    }

    private func tick() {
        timerDeadline = nil
        handle(.tick)
    }

    // MARK: Actions

    private func perform(_ action: CallStateMachine.Action) {
        switch action {
        case .send(let message, let peer): outgoing.yield((message, peer))
        case .ask(let id, let peer): ask(id, peer)
        case .openMedia(let id, let peer): openMedia(id, peer)
        case .closeMedia(let id): closeMedia(id)
        case .tell(let id, let state): tell(id, state)
        case .tellJoined(let id, let other):
            let peer = known.removeValue(forKey: id)?.peer
            if known[other] == nil, let peer {
                known[other] = Call(id: other, peer: peer, isOutgoing: false, state: .connecting)
            }
            subscribers.send(.joined(id, into: other))
        }
    }

    private func ask(_ id: CallID, _ peer: PeerID) {
        known[id] = Call(id: id, peer: peer, isOutgoing: false, state: .ringing)
        let running = known.values.filter { $0.state.isRunning && $0.id != id }.count
        let request = AdmissionRequest(kind: .call, name: "\(peer)", present: running)
        Task { [weak self, admission] in
            let decision = await admission.decision(on: request)
            await self?.decided(id, decision)
        }
    }

    private func decided(_ id: CallID, _ decision: AdmissionDecision) {
        switch decision {
        case .accept: handle(.admit(id))
        case .decline(let reason): handle(.decline(id, reason))
        case .busy(let wait): handle(.refuse(id, retryAfter: wait))
        }
    }

    private func openMedia(_ id: CallID, _ peer: PeerID) {
        guard let call = known[id] else { return }
        do throws(InletError) {
            let channel = try service.channel(to: peer)
            sessions[id] = try media.open(call, over: channel) { [weak self] event in
                Task { await self?.take(event, of: id) }
            }
        } catch {
            // Not called from within an action of the machine.
            Task { [weak self] in await self?.take(.failed(error), of: id) }
        }
    }

    private func take(_ event: CallMediaEvent, of call: CallID) {
        switch event {
        case .connected: handle(.mediaUp(call))
        case .failed(let error): handle(.mediaFailed(call, error.message))
        }
    }

    private func closeMedia(_ id: CallID) {
        guard let session = sessions.removeValue(forKey: id) else { return }
        closing[id] = Task { [weak self] in
            await session.close()
            await self?.closed(id)
        }
    }

    private func closed(_ id: CallID) { closing.removeValue(forKey: id) }

    private func tell(_ id: CallID, _ state: CallState) {
        guard var call = known[id] ?? unknown(id, state) else { return }
        call.state = state
        known[id] = call
        if case .ended = state {
            over.append(id)
            if over.count > Self.mostRemembered { known.removeValue(forKey: over.removeFirst()) }
        }
        subscribers.send(.changed(call))
    }

    /// Returns a call that was not reported before: one that is refused because this side is busy, or one that crossed
    /// another.
    private func unknown(_ id: CallID, _ state: CallState) -> Call? {
        machine.peer(of: id).map { Call(id: id, peer: $0, isOutgoing: false, state: state) }
    }
}
