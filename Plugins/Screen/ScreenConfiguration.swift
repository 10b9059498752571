public import InletCore

/// A screen to capture: `screen:`, `screen::1?region=1280x720+100+50`, `screen:portal`.
public struct ScreenConfiguration: FrameSourceConfiguration, Hashable {
    /// The origin of the screen. The default is ``ScreenOrigin/automatic``.
    public var origin = ScreenOrigin.automatic
    /// The X server's display, in the form of `DISPLAY`, such as `:0` or `:1.0`. The default, nil, is the value of
    /// that variable.
    public var display: String?
    /// The part to capture, in pixels of the whole screen, or of the picture that the portal shares. The default,
    /// nil, is the whole screen.
    public var region: ImageRect?
    /// The name of the monitor to capture, such as `HDMI-1`. The default, nil, is all monitors. It cannot be
    /// combined with ``region``, nor with the portal, where the user chooses.
    public var monitor: String?
    /// The maximum frame rate, from 1/10 to 240. The default is 30.
    public var frameRate = Rational(30)
    /// Whether the pointer is drawn into the pictures. The default is true.
    public var showsPointer = true
    /// The time after which an unchanged screen is captured again, from 0.1 s to a minute. The default is 1 s.
    public var refresh = Duration.seconds(1)
    /// The number of pictures that may be in use at once, from 2 to 64. Each takes memory shared by the server.
    /// The default is 4; without a free picture, a frame is dropped. A portal is asked for this number, but may
    /// provide fewer.
    public var buffers = 4
    /// The time that the user has to answer the portal's question, from 1 s to 10 minutes. The default is 1
    /// minute.
    public var consent = Duration.seconds(60)
    /// The path of a file that keeps the portal's token, so that the user is not asked again. It is created with
    /// the first answer. The default, nil, keeps no token.
    public var restore: String?
    /// The address of the session bus; nil for the one in the environment.
    var bus: String?

    /// Creates a configuration with default values.
    public init() {}

    static let frameRates = Rational(1, 10)...Rational(240)
    static let refreshes = Duration.milliseconds(100)...Duration.seconds(60)
    static let bufferCounts = 2...64
    static let consents = Duration.seconds(1)...Duration.seconds(600)

    /// Checks that all properties are in range and fit together.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``.
    public func validate() throws(InletError) {
        func fail(_ message: String) -> InletError {
            InletError(.invalidConfiguration, message, context: .init(subject: redactedURI))
        }
        guard Self.frameRates.contains(frameRate) else {
            throw fail("A screen has 1/10 to 240 frames per second, not \(frameRate).")
        }
        guard Self.refreshes.contains(refresh) else {
            throw fail("An unchanged screen is captured again after 100ms to 60s, not \(refresh).")
        }
        guard Self.bufferCounts.contains(buffers) else {
            throw fail("A screen has 2 to 64 buffers, not \(buffers).")
        }
        guard Self.consents.contains(consent) else {
            throw fail("The user has 1s to 10m to answer, not \(consent).")
        }
        guard origin != .portal || display == nil else {
            throw fail("Name a display or the portal, not both.")
        }
        guard origin != .portal || monitor == nil else {
            throw fail("With the portal, the user chooses the monitor. Leave out monitor.")
        }
        if let restore, restore.isEmpty || restore.utf8.contains(0) {
            throw fail("The path of the file for the portal's token must not be empty.")
        }
        guard region == nil || monitor == nil else {
            throw fail("Give a region or a monitor, not both.")
        }
        if let region, region.x < 0 || region.y < 0 || region.size.width < 1 || region.size.height < 1 {
            throw fail("A region is WIDTHxHEIGHT+X+Y without negative numbers, not \(region).")
        }
        if let display, display.utf8.contains(0) || display.utf8.count > 255 {
            throw fail("A display has the form of DISPLAY, such as :0.")
        }
    }

    /// The source's URI.
    public var redactedURI: String { "screen:\(origin == .portal ? "portal" : display ?? "")" }

    /// Returns a source with this configuration. It is not connected yet.
    public func makeSource() -> any FrameSource { usesPortal ? PortalSource(self) : ScreenSource(self) }

    private var usesPortal: Bool {
        switch origin {
        case .portal: true
        case .x11: false
        case .automatic:
            // An X server that runs in parallel, Xwayland, has only the windows of X11 programs.
            display == nil && PortalSession.isInWaylandSession
        }
    }

    /// Returns the minimum time between pictures that satisfies all sinks.
    func interval(_ demand: SourceDemand) -> Duration {
        let rate = min(frameRate, demand.maximumFrameRate ?? frameRate)
        return rate.reciprocal.map { .nanoseconds(MediaTime(ticks: 1, timeBase: $0).nanoseconds) } ?? .seconds(1)
    }
}
