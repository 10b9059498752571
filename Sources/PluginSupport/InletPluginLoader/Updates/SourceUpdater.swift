import Dispatch
import InletCore
import InletSystem
import Synchronization

/// Searches for a new version of a plug-in, and prepares it, on a separate queue: the source's thread never waits for a
/// file, a probe or the end of a process. Safe from any thread.
final class SourceUpdater: Sendable {
    /// A discovered version.
    enum News: Sendable {
        /// A source that can replace the running one.
        case opened(SourceSuccessor)
        /// A version that is opened once the running source is closed.
        case found(PluginSourceConfiguration)
    }

    private struct State {
        var updates: PluginUpdates
        var watch: UpdateWatch
        /// The time of the next check of the files; `.distantFuture` while the queue works, or has a result that was
        /// not taken.
        var nextLook: MonotonicTime
        var news: News?
        /// Cancels the preparation under way.
        var preparing: (context: SourceContext, wakeUp: WakeUpSignal)?
        var isClosed = false

        mutating func follow(_ updates: PluginUpdates) {
            self.updates = updates
            watch = UpdateWatch(running: updates.running, settling: updates.settling)
            nextLook = updates.isAutomatic ? .now + min(SourceUpdater.interval, updates.settling) : .distantFuture
        }
    }

    private let context: SourceContext
    private let queue = DispatchQueue(label: "inlet.plugin-update", qos: .utility)
    private let hasNews = Atomic(false)
    private let state: Mutex<State>

    /// The interval between checks of the files.
    static let interval = Duration.seconds(1)
    /// How long a new version may take until its first picture, or its first key frame.
    private static let openingLimit = Duration.seconds(10)
    /// How long ``close()`` waits for the work that it has cancelled.
    private static let closingLimit = DispatchTimeInterval.milliseconds(1500)

    /// - Parameters:
    ///   - updates: those of the running version.
    ///   - context: the environment of the source.
    init(_ updates: PluginUpdates, _ context: SourceContext) {
        self.context = context
        var state = State(
            updates: updates, watch: UpdateWatch(running: updates.running, settling: updates.settling), nextLook: .now)
        state.follow(updates)
        self.state = Mutex(state)
    }

    /// Checks the files, on the queue, if it is time. Called before each item, and returns at once.
    func look() {
        let now = MonotonicTime.now
        let isDue = state.withLock { state in
            guard now >= state.nextLook, !state.isClosed else { return false }
            state.nextLook = .distantFuture
            return true
        }
        if isDue { queue.async { [self] in lookNow() } }
    }

    /// Returns a version found since the last call, if any. Cheap enough for every item.
    func takeNews() -> News? {
        guard hasNews.load(ordering: .acquiring) else { return nil }
        hasNews.store(false, ordering: .relaxed)
        return state.withLock { $0.news.take() }
    }

    /// Closes a version that was found and not taken, and searches for it again.
    func dropNews() {
        guard let news = takeNews() else { return }
        if case .opened(let successor) = news { retire(successor.source) }
        lookLater()
    }

    /// Follows another version, which runs from now on.
    func follow(_ updates: PluginUpdates?) {
        guard let updates else { return }
        state.withLock { $0.follow(updates) }
    }

    /// Closes a source on the queue.
    func retire(_ source: Handover<ProcessSource>) { queue.async { source.value.close() } }

    /// Opens a version on the queue.
    ///
    /// - Parameter done: called on the queue with the outcome.
    func open(
        _ configuration: PluginSourceConfiguration,
        done: @escaping @Sendable (Result<SourceSuccessor, InletError>) -> Void
    ) {
        queue.async { [self] in done(prepare(configuration)) }
    }

    /// Cancels the preparation under way, closes an unused source, and waits a moment for both.
    func close() {
        let news = state.withLock { state in
            state.isClosed = true
            state.preparing?.context.cancel()
            state.preparing?.wakeUp.raise()
            return state.news.take()
        }
        if case .opened(let successor) = news { retire(successor.source) }
        let isDone = DispatchSemaphore(value: 0)
        queue.async { isDone.signal() }
        _ = isDone.wait(timeout: .now() + Self.closingLimit)
    }

    // MARK: On the queue

    private func lookNow() {
        let updates = state.withLock { $0.updates }
        let files = updates.files()
        let examines = state.withLock { $0.watch.examines(files, at: .now) }
        guard examines, let files else { return lookLater() }
        do throws(InletError) {
            let found = try updates.find()
            let closesFirst = updates.closesFirst || found.updates?.closesFirst == true
            announce(closesFirst ? .found(found) : .opened(try prepare(found).get()))
        } catch {
            let (isFinal, isClosed) = state.withLock { state in
                (state.watch.refuse(files, for: error, at: .now), state.isClosed)
            }
            if isFinal, !isClosed { context.noteUpdate(.refused(error)) }
            lookLater()
        }
    }

    private func lookLater() {
        state.withLock { $0.nextLook = .now + min(Self.interval, $0.updates.settling) }
    }

    private func announce(_ news: News) {
        let isTaken = state.withLock { state in
            if !state.isClosed { state.news = news }
            return !state.isClosed
        }
        if isTaken {
            hasNews.store(true, ordering: .releasing)
        } else if case .opened(let successor) = news {
            successor.source.value.close()
        }
    }

    private func prepare(_ configuration: PluginSourceConfiguration) -> Result<SourceSuccessor, InletError> {
        do throws(InletError) {
            let wakeUp = try WakeUpSignal()
            let aside = SourceContext(clock: context.clock, wakeUpDescriptor: wakeUp.descriptor, logger: context.logger)
            aside.setDemand(context.demand)
            aside.setDeadline(after: Self.openingLimit)
            let isClosed = state.withLock { state in
                if !state.isClosed { state.preparing = (aside, wakeUp) }
                return state.isClosed
            }
            defer { state.withLock { $0.preparing = nil } }
            guard !isClosed else { throw InletError(.cancelled, "The source was stopped.") }
            return .success(try SourceSuccessor(configuration, aside))
        } catch {
            return .failure(error)
        }
    }
}
