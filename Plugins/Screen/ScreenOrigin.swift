/// The origin of a captured screen.
public enum ScreenOrigin: Sendable, Hashable {
    /// The desktop portal in a Wayland session, unless a display is named; else an X server.
    case automatic
    /// An X server.
    case x11
    /// The desktop portal, which asks the user to choose a monitor or a window.
    case portal
}
