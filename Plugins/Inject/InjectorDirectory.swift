public import InletCore

/// Injectors by name, for `inject:NAME`.
///
/// A value: the application creates one and registers it with `SourcePlugin.inject(_:)`. There is no global directory,
/// so that no part of a process can get the frames of another by guessing a name.
public struct InjectorDirectory: Sendable {
    private var injectors: [String: FrameInjector] = [:]

    /// Creates an empty directory.
    public init() {}

    /// The names in alphabetical order.
    public var names: [String] { injectors.keys.sorted() }

    /// The injector with that name; nil if the name is unknown.
    public subscript(name: String) -> FrameInjector? { injectors[name] }

    /// Adds an injector.
    ///
    /// - Parameters:
    ///   - injector: the injector to register under the name.
    ///   - name: 1 to 64 letters, digits, `.`, `_` or `-` of ASCII.
    /// - Throws: ``InletError/Code/invalidConfiguration`` for any other name, or if the name is in use.
    public mutating func add(_ injector: FrameInjector, as name: String) throws(InletError) {
        let bytes = name.utf8
        guard (1...64).contains(bytes.count),
            bytes.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "._-".utf8.contains($0) })
        else {
            throw InletError(
                .invalidConfiguration,
                "An injector's name has 1 to 64 letters, digits, '.', '_' or '-', unlike '\(name)'.")
        }
        guard injectors[name] == nil else {
            throw InletError(.invalidConfiguration, "An injector '\(name)' already exists.")
        }
        injectors[name] = injector
    }
}
