import InletCore
import InletSystem
import NIOCore

/// A client that waits for the first playlist. Called on the server's thread only.
protocol PlaylistViewer: AnyObject {
    /// Takes the playlist, or why there will be none. The client no longer waits.
    func take(playlist: Result<String, InletError>)
}

/// Makes HTTP Live Streaming of a camera's packets, as long as somebody asks for it. Clients come and go by requests,
/// so the last one has left when none asks any more. Confined to the server's thread.
final class SegmentHub: FragmentViewer {
    /// How long after the last request the stream ends, in target durations: players ask about once in each.
    private static let idleTargets = 4
    /// That time as long as no client was told a target duration.
    private static let firstLimit = Duration.seconds(24)

    /// How often in a row the stream is begun again after an error, without anything new.
    static let mostRetries = 10

    private let findFragments: () -> FragmentHub
    private let retryDelay: TimeAmount
    private let idleLimit: Duration?
    private let loop: any EventLoop
    private let onEnd: (SegmentHub) -> Void
    private var fragments: FragmentHub?
    private var window: SegmentWindow
    private var waiting: [any PlaylistViewer] = []
    private(set) var lastUse = MonotonicTime.now
    private var timer, retry: Scheduled<Void>?
    /// Whether anything came since the last end of the packets.
    private var hasPieces = false
    /// Whether anything ever came.
    private var hasBegun = false
    /// The times in a row that it failed without anything new.
    private var failures = 0
    /// The end of the last fragment.
    private var end: MonotonicTime?
    /// After an error, what was there already comes again from a key frame on: it is left out up to this time.
    private var resume: MonotonicTime?
    private(set) var isOpen = true

    /// - Parameters:
    ///   - fragments: returns what makes the fragments. The stream is one of its clients.
    ///   - idleLimit: how long after the last request it ends. The default is four target durations.
    ///   - retryDelay: how long after an error the stream begins again. The default is one second.
    ///   - onEnd: called once when the stream has ended.
    /// - Throws: what ``FragmentHub/add(_:)`` throws.
    init(
        _ fragments: @escaping () -> FragmentHub, loop: any EventLoop, idleLimit: Duration? = nil,
        retryDelay: TimeAmount = .seconds(1), onEnd: @escaping (SegmentHub) -> Void
    ) throws(InletError) {
        (findFragments, self.loop, self.onEnd) = (fragments, loop, onEnd)
        (self.idleLimit, self.retryDelay) = (idleLimit, retryDelay)
        // A stream that begins anew has greater numbers than any before, also before a restart of the daemon: a segment
        // takes a second or more.
        window = SegmentWindow(first: WallTime.now / 1_000_000_000)
        try attach()
        watch()
    }

    /// The playlist; nil as long as there is no segment. The stream goes on from here.
    func playlist() -> String? {
        lastUse = .now
        return window.playlist
    }

    /// Returns the bytes of a file that a playlist names; nil if there is none. The stream goes on from here.
    func bytes(of file: String) -> ByteBuffer? {
        let bytes = window.bytes(of: file)
        if bytes != nil { lastUse = .now }
        return bytes
    }

    /// Lets a client wait for the first playlist.
    func add(_ viewer: any PlaylistViewer) { waiting.append(viewer) }

    /// Lets a client wait no more.
    func remove(_ viewer: any PlaylistViewer) { waiting.removeAll { $0 === viewer } }

    private func attach() throws(InletError) {
        let hub = findFragments()
        fragments = hub
        do throws(InletError) {
            try hub.add(self)
        } catch {
            fragments = nil
            throw error
        }
    }

    private func watch() {
        let limit =
            idleLimit ?? window.target.map { Duration.seconds($0 * Self.idleTargets) } ?? Self.firstLimit
        let left = lastUse + limit - .now
        guard left > .zero else { return close(InletError(.timedOut, "The camera gave no segment in time.")) }
        // The limit is another one as soon as there is a target duration.
        timer = loop.assumeIsolated().scheduleTask(in: TimeAmount(min(left, .seconds(2)))) { [weak self] in
            guard let self, isOpen else { return }
            watch()
        }
    }

    /// - Parameter error: what those are told who wait.
    private func close(_ error: InletError) {
        guard isOpen else { return }
        isOpen = false
        timer?.cancel()
        retry?.cancel()
        fragments?.remove(self)
        fragments = nil
        window = SegmentWindow(first: 0)
        onEnd(self)
        tell(.failure(error))
    }

    private func tell(_ playlist: Result<String, InletError>) {
        let told = waiting
        waiting = []
        for viewer in told { viewer.take(playlist: playlist) }
    }

    func take(_ piece: FragmentQueue.Piece) {
        guard isOpen else { return }
        (hasPieces, hasBegun) = (true, true)
        switch piece {
        case .beginning(let bytes): window.begin(bytes)
        case .fragment(let bytes, let isKey, let times):
            if let resume, times.start < resume { return }
            (resume, failures) = (nil, 0)
            end = times.start + times.length
            window.add(bytes, isKey: isKey, times)
        }
        guard !waiting.isEmpty, let playlist = window.playlist else { return }
        // They ask for more from now on, however long the camera took.
        lastUse = .now
        tell(.success(playlist))
    }

    func endFragments(_ error: InletError?) {
        guard isOpen else { return }
        fragments = nil
        window.breakOff()
        // Other packets may follow, as of a camera that has another size since it was opened again.
        if error == nil, hasPieces { return begin() }
        let error = error ?? InletError(.disconnected, "The camera's packets ended.")
        failures += 1
        guard hasBegun, error.code != .notFound, error.code != .unsupported, failures <= Self.mostRetries else {
            return close(error)
        }
        // The packets come again from the last key frame on, and so does the one that cannot be written. The time of a
        // broken packet may be far away.
        resume = end.map { min($0, .now) }
        retry = loop.assumeIsolated().scheduleTask(in: retryDelay) { [weak self] in
            guard let self, isOpen else { return }
            begin()
        }
    }

    private func begin() {
        hasPieces = false
        do throws(InletError) {
            try attach()
        } catch {
            close(error)
        }
    }
}
