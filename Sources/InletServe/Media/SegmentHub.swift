import InletCore
import InletSystem
import NIOCore

/// A client that waits for the first playlist. Called on the server's thread only.
protocol PlaylistViewer: AnyObject {
    /// Takes the playlist, or nil if there will be none, as the codec does not fit. The client no longer waits.
    func take(playlist: String?)
}

/// Makes HTTP Live Streaming of a camera's packets, as long as somebody asks for it. Clients come and go by requests,
/// so the last one has left when none asks any more. Confined to the server's thread.
final class SegmentHub: FragmentViewer {
    /// How long after the last request the stream ends, in target durations: players ask about once in each.
    private static let idleTargets = 4
    /// That time as long as no client was told a target duration.
    private static let firstLimit = Duration.seconds(24)

    private let fragments: FragmentHub
    private let loop: any EventLoop
    private let onEnd: () -> Void
    private var window: SegmentWindow
    private var waiting: [any PlaylistViewer] = []
    private var lastUse = MonotonicTime.now
    private var timer: Scheduled<Void>?
    /// Whether anything came since the last end of the packets.
    private var hasPieces = false
    private(set) var isOpen = true

    /// - Parameters:
    ///   - fragments: makes the fragments. The stream is one of its clients.
    ///   - onEnd: called once when the stream has ended.
    /// - Throws: what ``FragmentHub/add(_:)`` throws.
    init(_ fragments: FragmentHub, loop: any EventLoop, onEnd: @escaping () -> Void) throws(InletError) {
        (self.fragments, self.loop, self.onEnd) = (fragments, loop, onEnd)
        // A stream that begins anew has greater numbers than any before, also before a restart of the daemon: a segment
        // takes a second or more.
        window = SegmentWindow(first: WallTime.now / 1_000_000_000)
        try fragments.add(self)
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

    private func watch() {
        let limit = window.target.map { Duration.seconds($0 * Self.idleTargets) } ?? Self.firstLimit
        let left = lastUse + limit - .now
        guard left > .zero else { return close() }
        // The limit is another one as soon as there is a target duration.
        timer = loop.assumeIsolated().scheduleTask(in: TimeAmount(min(left, .seconds(2)))) { [weak self] in
            guard let self, isOpen else { return }
            watch()
        }
    }

    private func close() {
        guard isOpen else { return }
        isOpen = false
        timer?.cancel()
        fragments.remove(self)
        window = SegmentWindow(first: 0)
        onEnd()
        tell(nil)
    }

    private func tell(_ playlist: String?) {
        let told = waiting
        waiting = []
        for viewer in told { viewer.take(playlist: playlist) }
    }

    func take(_ piece: FragmentQueue.Piece) {
        guard isOpen else { return }
        hasPieces = true
        switch piece {
        case .beginning(let bytes): window.begin(bytes)
        case .fragment(let bytes, let isKey, let times): window.add(bytes, isKey: isKey, times)
        }
        guard !waiting.isEmpty, let playlist = window.playlist else { return }
        tell(playlist)
    }

    /// Other packets may follow, as of a camera that has another size since it was opened again.
    func endFragments() {
        guard isOpen else { return }
        window.breakOff()
        guard hasPieces else { return close() }
        hasPieces = false
        do throws(InletError) {
            try fragments.add(self)
        } catch {
            close()
        }
    }
}
