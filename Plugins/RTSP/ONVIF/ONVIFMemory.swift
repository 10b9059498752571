import InletCore
import InletFFmpeg
import InletNetwork
import InletRTSP

/// The knowledge about an ONVIF device, and the counts of key-frame requests.
struct ONVIFMemory: Sendable {
    /// The addresses and the profile found so far, and the authentication that the device accepts.
    var session: ONVIFSession
    /// The time before which nothing is requested.
    var earliest = MonotonicTime(nanoseconds: .min)
    /// The number of consecutive failures.
    var failures = 0
    /// The codes of the failures that were logged: each is logged once.
    var logged: Set<InletError.Code> = []
    /// The most public address of the connections so far. It determines the permitted redirects.
    var leader: IPAddress?
    var statistics = Statistics()

    /// The counts of key-frame requests.
    struct Statistics: Sendable, Equatable {
        /// The number of sent requests (SetSynchronizationPoint).
        var sent: UInt64 = 0
        /// The number of requests that succeeded.
        var answered: UInt64 = 0
        /// The number of failures, both of these requests and of those that find the service and the profile.
        var failed: UInt64 = 0
    }
}
