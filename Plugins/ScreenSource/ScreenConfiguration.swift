#if os(Linux)
    public import InletCore

    /// An X screen to capture: `screen:`, `screen::1?region=1280x720+100+50`.
    public struct ScreenConfiguration: FrameSourceConfiguration, Hashable {
        /// The display, as `DISPLAY` has it, such as `:0` or `:1.0`. The default, nil, is what that variable says.
        public var display: String?
        /// The part that is captured, in pixels of the whole screen. The default, nil, is all of it.
        public var region: ImageRect?
        /// The name of the monitor that is captured, such as `HDMI-1`. The default, nil, is all of them. Not together
        /// with ``region``.
        public var monitor: String?
        /// The most frames a second, from 1/10 to 240. The default is 30.
        public var frameRate = Rational(30)
        /// Whether the pointer is drawn into the pictures. The default is true.
        public var showsPointer = true
        /// After how long a screen that does not change is captured again, from 0.1 s to a minute. The default is 1 s.
        public var refresh = Duration.seconds(1)
        /// How many pictures may be in use at once, from 2 to 64. Each is memory that the X server shares. The default
        /// is 4; a frame for which none is free is dropped.
        public var buffers = 4

        /// Creates a configuration with the default of each property.
        public init() {}

        static let frameRates = Rational(1, 10)...Rational(240)
        static let refreshes = Duration.milliseconds(100)...Duration.seconds(60)
        static let bufferCounts = 2...64

        /// Checks that all properties are in range and fit together.
        ///
        /// - Throws: ``InletError/Code/invalidConfiguration``.
        public func validate() throws(InletError) {
            func fail(_ message: String) -> InletError {
                InletError(.invalidConfiguration, message, context: .init(subject: redactedURI))
            }
            guard Self.frameRates.contains(frameRate) else {
                throw fail("A screen has from 1/10 to 240 frames a second, not \(frameRate).")
            }
            guard Self.refreshes.contains(refresh) else {
                throw fail("A still screen is captured again after 100ms to 60s, not \(refresh).")
            }
            guard Self.bufferCounts.contains(buffers) else {
                throw fail("A screen takes from 2 to 64 buffers, not \(buffers).")
            }
            guard region == nil || monitor == nil else {
                throw fail("A part of the screen is named once: by region or by monitor.")
            }
            if let region, region.x < 0 || region.y < 0 || region.size.width < 1 || region.size.height < 1 {
                throw fail("A region is WIDTHxHEIGHT+X+Y with nothing negative, not \(region).")
            }
            if let display, display.utf8.contains(0) || display.utf8.count > 255 {
                throw fail("A display is as DISPLAY has it, such as :0.")
            }
        }

        /// The source's URI.
        public var redactedURI: String { "screen:\(display ?? "")" }

        /// Returns a source with this configuration. Connects to nothing yet.
        public func makeSource() -> any FrameSource { ScreenSource(self) }
    }
#endif
