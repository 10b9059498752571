import InletCore
import InletSystem
import NIOCore

/// A client that waits for the first playlist. Called on the server's thread only.
protocol PlaylistViewer: AnyObject {
    /// Receives the playlist, or the error if there will be no playlist. The client no longer waits.
    func take(playlist: Result<String, InletError>)
}

/// Makes HTTP Live Streaming from a camera's packets, as long as clients request it. Clients have no connection, so the
/// stream ends when requests stop. Confined to the server's thread.
final class SegmentHub: FragmentViewer {
    /// How long after the last request the stream ends, in target durations. Players send about one request in each.
    private static let idleTargets = 4
    /// The same time while no client has received a target duration.
    private static let firstLimit = Duration.seconds(24)

    /// How often in a row the stream is restarted after an error without any new fragment.
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
    /// Whether any piece has arrived since the packets last ended.
    private var hasPieces = false
    /// Whether any piece has ever arrived.
    private var hasBegun = false
    /// The number of failures in a row without any new fragment.
    private var failures = 0
    /// The end of the last fragment.
    private var end: MonotonicTime?
    /// The time up to which fragments are skipped after an error, because earlier fragments are repeated from a key
    /// frame on.
    private var resume: MonotonicTime?
    private(set) var isOpen = true

    /// - Parameters:
    ///   - fragments: returns the hub that makes the fragments. The stream is one of its clients.
    ///   - idleLimit: how long after the last request the stream ends. The default is four target durations.
    ///   - retryDelay: how long after an error the stream restarts. The default is one second.
    ///   - onEnd: called once when the stream has ended.
    /// - Throws: the errors of ``FragmentHub/add(_:)``.
    init(
        _ fragments: @escaping () -> FragmentHub, loop: any EventLoop, idleLimit: Duration? = nil,
        retryDelay: TimeAmount = .seconds(1), onEnd: @escaping (SegmentHub) -> Void
    ) throws(InletError) {
        (findFragments, self.loop, self.onEnd) = (fragments, loop, onEnd)
        (self.idleLimit, self.retryDelay) = (idleLimit, retryDelay)
        // A new stream has higher segment numbers than all earlier ones, even across a restart of the daemon, because a
        // segment takes about a second or more. A clock before 1970 counts as 1970, because numbers are not negative
        // (RFC 8216, 4.3.3.2).
        window = SegmentWindow(first: max(0, WallTime.now / 1_000_000_000))
        try attach()
        watch()
    }

    /// The playlist; nil while there is no segment. Reading it keeps the stream alive.
    func playlist() -> String? {
        lastUse = .now
        return window.playlist
    }

    /// Returns the bytes of a file in a playlist; nil if there is no such file. This keeps the stream alive.
    func bytes(of file: String) -> ByteBuffer? {
        let bytes = window.bytes(of: file)
        if bytes != nil { lastUse = .now }
        return bytes
    }

    /// Makes a client wait for the first playlist.
    func add(_ viewer: any PlaylistViewer) { waiting.append(viewer) }

    /// Removes a waiting client.
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
        guard left > .zero else { return close(InletError(.timedOut, "The camera delivered no segment in time.")) }
        // The timer is short, because the limit changes once there is a target duration.
        timer = loop.assumeIsolated().scheduleTask(in: TimeAmount(min(left, .seconds(2)))) { [weak self] in
            guard let self, isOpen else { return }
            watch()
        }
    }

    /// - Parameter error: the error for the waiting clients.
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
        // The clients send further requests from now on, so the time that the camera took does not count.
        lastUse = .now
        tell(.success(playlist))
    }

    func endFragments(_ error: InletError?) {
        guard isOpen else { return }
        fragments = nil
        window.breakOff()
        // Packets with other parameters may follow, for example if the camera has a new picture size.
        if error == nil, hasPieces { return begin() }
        let error = error ?? InletError(.disconnected, "The camera's packets ended.")
        failures += 1
        guard hasBegun, error.code != .notFound, error.code != .unsupported, failures <= Self.mostRetries else {
            return close(error)
        }
        // The packets are repeated from the last key frame on, including the one that could not be written. The time of
        // a broken packet may be far in the future.
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
