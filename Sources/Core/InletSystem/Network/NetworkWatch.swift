import Dispatch
import InletCore

// Unsafe: has state that only its queue uses.
/// Reports when the addresses or the default routes of this machine change, for example when it joins another
/// network.
///
/// Safe from any thread. Costs nothing until it has a listener, and from then on a socket on which the kernel
/// reports changes. They come in bursts, so the network is checked when a burst is over.
///
/// `@unchecked Sendable`: everything except constants is accessed only on `queue`.
package final class NetworkWatch: @unchecked Sendable {
    /// The one watch of the process.
    package static let shared = NetworkWatch()

    private let queue = DispatchQueue(label: "inlet.network")
    private let listeners = Broadcaster<NetworkView>(limit: 1)
    private var events: RoutingSocket?
    private var source: (any DispatchSourceRead)?
    private var view: NetworkView?
    private var settling = SettlingTime(quiet: .milliseconds(100), limit: .milliseconds(500))
    private var isScheduled = false

    init() {}

    /// Returns the views of the network, from the current one on. A slow reader gets only the newest one. The
    /// stream is empty if the system does not allow reading the kernel's messages.
    package func views() -> AsyncStream<NetworkView> {
        queue.sync {
            start()
            guard let view else { return listeners.stream() }
            // Nothing is sent meanwhile, because sending happens on this queue.
            return listeners.stream { [view] }
        }
    }

    /// Calls a function with each change from now on, one at a time. Changes that follow while the function runs
    /// are combined into the next call.
    ///
    /// - Returns: the task that calls the function until it is cancelled.
    package func follow(_ told: @escaping @Sendable (NetworkChange) -> Void) -> Task<Void, Never> {
        let views = views()
        return Task {
            var last: NetworkView?
            for await view in views {
                if let change = last?.change(to: view) { told(change) }
                last = view
            }
        }
    }

    private func start() {
        guard events == nil, let events = try? RoutingSocket(hears: true) else { return }
        self.events = events
        view = Self.look()
        let source = DispatchSource.makeReadSource(fileDescriptor: events.descriptor, queue: queue)
        source.setEventHandler { [weak self] in self?.read() }
        source.activate()
        self.source = source
    }

    private func read() {
        guard let events, events.read().contains(where: \.concernsView) else { return }
        settling.note(at: .now)
        schedule()
    }

    private func schedule() {
        guard !isScheduled, let due = settling.due else { return }
        isScheduled = true
        let wait = max(0, (due - .now).wholeNanoseconds)
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: wait))) { [weak self] in
            guard let self else { return }
            isScheduled = false
            guard settling.take(at: .now) else { return schedule() }
            guard let view = Self.look(), view != self.view else { return }
            self.view = view
            listeners.send(view)
        }
    }

    private static func look() -> NetworkView? { (try? RoutingSocket(hears: false))?.view() }
}

extension RoutingMessage {
    /// Whether a view of the network may differ after this message.
    var concernsView: Bool {
        switch self {
        case .link, .linkGone, .address, .addressGone, .overrun: true
        case .route(_, let prefix), .routeGone(let prefix): prefix == 0
        case .done, .failed: false
        }
    }
}
