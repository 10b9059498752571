package import InletCore
import InletFFmpeg
import InletNetwork
package import InletRTSP
import InletSystem
import Logging
import Synchronization

/// Queries ONVIF devices for their profiles and the addresses of their streams, as one user, several devices at once.
///
/// The password itself is never sent: devices get a digest of it, by HTTP or by WS-Security.
package struct DeviceLogin: Sendable {
    /// A device's response.
    package struct Answer: Sendable {
        /// The device's profiles with the addresses of their streams, or the error.
        package var profiles: Result<[ONVIFProfile], InletError>
        /// The seconds by which the device's clock is ahead of this machine's; nil if the device does not state its
        /// time within two seconds. Responses state the time in whole seconds.
        package var clockOffset: Int64?

        package init(_ profiles: Result<[ONVIFProfile], InletError>, clockOffset: Int64? = nil) {
            (self.profiles, self.clockOffset) = (profiles, clockOffset)
        }
    }

    /// The time limit for all responses of a device. The default is 10 s.
    package var timeout = Duration.seconds(10)
    /// The time limit for each response. The default is 5 s.
    package var patience = Duration.seconds(5)
    /// The path of a PEM file with certificate authorities for `https:`; nil, the default, uses the system's.
    package var certificateAuthorities: String?
    /// Whether certificates are verified. The default is true.
    package var verifiesCertificate = true

    private let credentials: RTSPCredentials
    private let clock: any CaptureClock

    /// The maximum number of devices that are queried at once.
    private static let mostAtOnce = 16
    /// The time limit for a device to state its time.
    private static let clockPatience = Duration.seconds(2)
    /// The additional time that a thread's work may take, because it has its own deadlines.
    private static let slack = Duration.seconds(5)

    /// Creates a login with default values.
    package init(user: String, password: String, clock: any CaptureClock) {
        credentials = RTSPCredentials(user: Array(user.utf8), password: Array(password.utf8))
        self.clock = clock
    }

    /// Queries all devices, and waits until each has answered or its time is up. Blocks the thread.
    ///
    /// - Parameter devices: the addresses of each device's service. Those after the first are tried in turn while none
    ///   has answered.
    /// - Returns: the response of each device, in order.
    /// - Throws: ``InletError/Code/resourceExhausted`` if no thread can be started.
    package func profiles(of devices: [[RTSPURL]]) throws(InletError) -> [Answer] {
        let work = LoginWork(devices.count, done: try Doorbell())
        var threads = 0
        while threads < min(Self.mostAtOnce, devices.count) {
            do throws(InletError) {
                try SystemThread.start(named: "inlet-onvif") {
                    while let place = work.next() { work.note(ask(devices[place]), at: place) }
                }
                threads += 1
            } catch {
                // The running threads also do the work of the missing ones.
                if threads == 0 { throw error }
                break
            }
        }
        let rounds = threads == 0 ? 0 : (devices.count + threads - 1) / threads
        return work.answers(until: clock.now + (timeout + Self.clockPatience) * rounds + Self.slack)
    }

    private func ask(_ services: [RTSPURL]) -> Answer {
        let end = clock.now + timeout + Self.clockPatience
        var failure = InletError(.notFound, "The ONVIF device states no address that may be queried.")
        for (index, service) in services.enumerated() {
            // The time is determined first, whether or not the login succeeds, because a clock that is days off is why
            // some devices reject it.
            let offset = clockOffset(of: service)
            var settings = ONVIFSession.Settings(device: service, goal: .profiles)
            settings.credentials = credentials
            settings.basic = .never
            // The other addresses get their share of the time.
            let share = (end - clock.now) / (services.count - index)
            var conversation = conversation(settings, patience: min(patience, share))
            do throws(InletError) {
                try conversation.run(until: end)
                return Answer(.success(conversation.session.found ?? []), clockOffset: offset)
            } catch {
                // The others are addresses of the same device, which would count another wrong password.
                if conversation.session.hasSentCredentials || services.count == 1 {
                    return Answer(.failure(error), clockOffset: offset)
                }
                if index == 0 { failure = error }
            }
        }
        return Answer(.failure(failure))
    }

    /// Returns the seconds by which a device's clock is ahead; nil if it does not state its time within the limit.
    private func clockOffset(of device: RTSPURL) -> Int64? {
        let begin = clock.now
        let settings = ONVIFSession.Settings(device: device, goal: .clock)
        var conversation = conversation(settings, patience: patience)
        guard (try? conversation.run(until: begin + Self.clockPatience)) != nil,
            let offset = conversation.session.statedClockOffset
        else { return nil }
        // The stated time is about that of the middle of the exchange, but was compared with its end.
        return offset + (clock.now - begin >= .seconds(1) ? 1 : 0)
    }

    private func conversation(_ settings: ONVIFSession.Settings, patience: Duration) -> ONVIFConversation {
        ONVIFConversation(
            settings, SourceContext(clock: clock, logger: Logger(label: "inlet.onvif")),
            tls: TLSSettings(authorities: certificateAuthorities, verifies: verifiesCertificate), policy: .follow,
            patience: patience)
    }
}

/// The devices that remain to be queried, and the responses. Safe from any thread.
private final class LoginWork: Sendable {
    private struct State {
        var next = 0
        var answers: [DeviceLogin.Answer?]
    }

    private let state: Mutex<State>
    private let done: Doorbell

    init(_ count: Int, done: Doorbell) {
        self.done = done
        state = Mutex(State(answers: Array(repeating: nil, count: count)))
    }

    /// Returns the index of a device that was not queried yet; nil if all were queried.
    func next() -> Int? {
        state.withLock { state in
            guard state.next < state.answers.count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    func note(_ answer: DeviceLogin.Answer, at place: Int) {
        state.withLock { $0.answers[place] = answer }
        done.ring()
    }

    /// Waits until all devices have answered, or the time is up.
    func answers(until end: MonotonicTime) -> [DeviceLogin.Answer] {
        while true {
            let answers = state.withLock { $0.answers }
            if !answers.contains(where: { $0 == nil }) || MonotonicTime.now >= end {
                let late = InletError(.timedOut, "The ONVIF device did not answer in time.")
                return answers.map { $0 ?? DeviceLogin.Answer(.failure(late)) }
            }
            _ = done.wait(until: end, wakeDescriptor: -1)
            done.clear()
        }
    }
}
