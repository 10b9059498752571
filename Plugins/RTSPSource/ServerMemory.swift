import InletRTSP
import Synchronization

/// What the sources of one capturer have learnt of their server, so that a session that is opened anew makes no mistake
/// twice.
///
/// Safe from any thread.
final class ServerMemory: Sendable {
    private let known = Mutex(KeepAliveMemory())

    /// Which request keeps a session alive.
    var keepAlive: KeepAliveMemory {
        get { known.withLock { $0 } }
        set { known.withLock { $0 = newValue } }
    }
}
