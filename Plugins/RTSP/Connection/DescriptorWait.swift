import Glibc
import InletCore

// Unsafe: waits in `poll`.
/// Waits for descriptors, a time limit, and the cancellation of a source.
struct DescriptorWait {
    let context: SourceContext

    var clock: any CaptureClock { context.clock }

    /// The polling interval if nothing signals a cancellation.
    private static let blindWait = Duration.milliseconds(50)

    /// Waits until one of the descriptors is ready or the time is up.
    ///
    /// - Parameters:
    ///   - descriptors: the descriptors, each with the `poll` events to wait for.
    ///   - end: the time limit; the deadline of the source's operation applies as well.
    /// - Throws: as ``SourceContext/checkCancellation()``.
    func wait(for descriptors: [(Int32, Int16)], until end: MonotonicTime) throws(InletError) -> [Int] {
        var polled = descriptors.map { pollfd(fd: $0.0, events: $0.1, revents: 0) }
        polled.append(pollfd(fd: context.wakeUpDescriptor, events: Int16(POLLIN), revents: 0))
        try wait(&polled, until: end)
        return descriptors.indices.filter { polled[$0].revents != 0 }
    }

    /// Waits for a connection even if the source was cancelled, for example while it is being closed.
    func waitRegardless(for connection: RTSPConnection, until end: MonotonicTime) {
        let milliseconds = Int32(clamping: max(0, (end - clock.now).wholeNanoseconds) / 1_000_000 + 1)
        var polled = connection.polled
        _ = unsafe poll(&polled, nfds_t(polled.count), milliseconds)
    }

    /// Works like ``wait(for:until:)``, without an allocation.
    ///
    /// - Parameter polled: the descriptors with the events to wait for; the last one is the context's wake-up
    ///   descriptor.
    func wait(_ polled: inout [pollfd], until end: MonotonicTime) throws(InletError) {
        try context.checkCancellation()
        var left = min(end, context.deadline) - clock.now
        if context.wakeUpDescriptor < 0 { left = min(left, Self.blindWait) }
        // An additional millisecond makes sure that the time is up when the wait returns.
        let milliseconds = left <= .zero ? 0 : Int32(clamping: left.wholeNanoseconds / 1_000_000 + 1)
        _ = unsafe poll(&polled, nfds_t(polled.count), milliseconds)
        try context.checkCancellation()
    }
}

extension RTSPConnection {
    /// The descriptors to poll for the connection.
    var polled: [pollfd] {
        var polled: [pollfd] = []
        appendPolled(to: &polled)
        return polled
    }

    /// Appends the descriptors to poll for the connection, one or two.
    func appendPolled(to polled: inout [pollfd]) {
        polled.append(pollfd(fd: descriptor, events: Int16(POLLIN) | (wantsOutput ? Int16(POLLOUT) : 0), revents: 0))
        guard let second else { return }
        let events = (second.wantsInput ? Int16(POLLIN) : 0) | (second.wantsOutput ? Int16(POLLOUT) : 0)
        polled.append(pollfd(fd: second.number, events: events, revents: 0))
    }
}
