import InletCore
import InletFFmpeg
import InletRTSP
import Logging

/// Queries an ONVIF device for the address of a profile's stream, and reads the stream with an ``RTSPSource``.
///
/// The address is queried each time a source is opened, because cameras change it with their settings.
final class ONVIFSource: FrameSource {
    private let configuration: ONVIFConfiguration
    private var source: RTSPSource?

    init(_ configuration: ONVIFConfiguration) { self.configuration = configuration }

    func open(_ context: SourceContext) throws -> SourceFormat {
        let source = RTSPSource(try stream(context))
        self.source = source
        return try source.open(context)
    }

    func next(_ context: SourceContext) throws -> SourceItem? { try source?.next(context) }

    func pause(_ context: SourceContext) throws -> Bool { try source?.pause(context) ?? false }

    func resume(_ context: SourceContext) throws { try source?.resume(context) }

    func close() {
        source?.close()
        source = nil
    }

    /// Queries the device and returns the settings for playing its stream.
    private func stream(_ context: SourceContext) throws(InletError) -> RTSPConfiguration {
        let stream = configuration.stream
        var conversation = ONVIFConversation(
            try configuration.settings(), context, tls: stream.tls, policy: stream.addressPolicy,
            patience: stream.connectTimeout)
        do throws(InletError) {
            try conversation.run(until: context.clock.now + stream.connectTimeout)
            let answer = try conversation.session.chosenProfile()
            context.logger.info("ONVIF: the profile '\(answer.profile.title)' is at \(answer.address).")
            return configuration.stream(of: answer)
        } catch {
            throw Self.advised(error, conversation.session)
        }
    }

    /// Adds advice to an error.
    static func advised(_ error: InletError, _ session: ONVIFSession) -> InletError {
        let advice: String
        switch error.code {
        case .malformedData:
            advice =
                "This is not an ONVIF device service. Cameras offer it at port 80, 8000, 8080, 8899 or 2020, if it is "
                + "switched on in their settings. List those that answer with inlet discover."
        case .connectionRefused, .disconnected:
            advice = "ONVIF may use another port or be switched off in the camera's settings; see inlet discover."
        case .authenticationFailed:
            let offset = session.statedClockOffset ?? 0
            let clock =
                abs(offset) > 60
                ? " The camera's clock differs by \(abs(offset)) s, which was taken into account. Set it anyway."
                : ""
            advice = "Many cameras have separate users for ONVIF, or must allow it for a user.\(clock)"
        default: return error
        }
        return InletError(error.code, "\(error.message) \(advice)", context: error.context)
    }
}
