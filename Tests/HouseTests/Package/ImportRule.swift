/// A module imports only the dependencies of its target in `Package.swift`, besides ``standard``, ``system`` and
/// ``foundation``. A plug-in depends on no other plug-in and not on the bridge.
struct ImportRule {
    var package: PackageDescription

    /// Modules of Swift itself, for every target.
    static let standard: Set<String> = ["Swift", "Synchronization", "Dispatch"]
    /// The C library, for every target except ``pure``.
    static let system: Set<String> = ["Glibc"]
    /// Targets that do not import the C library.
    static let pure: Set<String> = [
        // Only values and contracts.
        "InletCore",
        // Only decisions: no input, output or clock.
        "InletRTP", "InletRTSP", "InletRTC",
    ]
    /// Parts of Foundation by target, each with its use. `Package.swift` cannot name them.
    static let foundation: [String: Set<String>] = [
        // Addresses in playlists, and the environment for proxies.
        "FFmpegSource": ["FoundationEssentials"],
        // JSON.
        "InletCommand": ["FoundationEssentials"],
        "InletPluginLoader": ["FoundationEssentials"],
        // JSON, and arrays of bytes for HMAC.
        "InletHTTPServer": ["FoundationEssentials"],
        "InletRTC": ["FoundationEssentials"],
        // Base64.
        "InletServe": ["FoundationEssentials"],
        "InletWebSocket": ["FoundationEssentials"],
        "RoomsPlugin": ["FoundationEssentials"],
        // Files and folders of a verification.
        "InletPluginVerify": ["FoundationEssentials"],
        // The HTTP client.
        "WebRTCEngine": ["Foundation", "FoundationNetworking"],
        // Addresses, the environment and Base64.
        "KinesisPlugin": ["Foundation"],
        // Addresses of servers, and JSON.
        "WebRTCSink": ["Foundation", "FoundationEssentials"],
        "WebRTCSource": ["Foundation"],
    ]
    /// Other modules that `Package.swift` cannot name.
    static let others: [String: Set<String>] = [
        // Declarations of Glibc that Swift has in this module.
        "InletCommand": ["SwiftOverlayShims"]
    ]
    /// Targets outside `Plugins` that depend on plug-ins: the umbrella builds the standard registry, and the command
    /// configures plug-ins by their types.
    static let pluginUsers: Set<String> = ["Inlet", "InletCommand"]
    /// Targets above the plug-ins.
    static let bridges: Set<String> = ["InletCapture", "Inlet", "InletServe", "InletCommand"]

    /// The modules that a file of this target may import.
    static func allowed(for target: PackageDescription.Target) -> Set<String> {
        standard.union(pure.contains(target.name) ? [] : system)
            .union(target.targetDependencies ?? []).union(target.productDependencies ?? [])
            .union(foundation[target.name] ?? []).union(others[target.name] ?? [])
    }

    /// The modules that a text imports, with the line of each.
    static func imports(in text: String) -> [(module: String, line: Int)] {
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        var found: [(String, Int)] = []
        for (index, line) in SwiftText.code(of: text).split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            // An import may follow attributes, an access level or, on one line, another statement.
            for statement in line.split(separator: ";") {
                let words = SwiftText.words(of: statement)
                guard let position = words.firstIndex(of: "import") else { continue }
                guard let module = words[(position + 1)...].first(where: { !kinds.contains($0) }) else { continue }
                found.append((String(module), index + 1))
            }
        }
        return found
    }

    /// The imports of a file that its target does not allow.
    func check(_ file: HouseTree.File) -> [Violation] {
        guard let target = package.target(of: file) else {
            return [Violation(path: file.path, message: "The file is in no target of Package.swift.")]
        }
        let allowed = Self.allowed(for: target)
        return Self.imports(in: file.text).filter { !allowed.contains($0.module) }.map {
            let message = "\(target.name) imports \($0.module), which is not a dependency of it in Package.swift."
            return Violation(path: file.path, line: $0.line, message: message)
        }
    }

    /// The dependencies in `Package.swift` that point upwards or sideways.
    func checkDependencies() -> [Violation] {
        let plugins = Set(package.targets.filter(\.isPlugin).map(\.name))
        return package.targets.flatMap { target -> [Violation] in
            var refused: Set<String> = []
            if target.isPlugin { refused = plugins.union(Self.bridges) }
            if target.path.hasPrefix("Sources/"), !Self.pluginUsers.contains(target.name) { refused = plugins }
            if target.name == "InletCore" { refused = Set(package.targets.map(\.name)) }
            return refused.intersection(target.targetDependencies ?? []).sorted().map {
                Violation(path: "Package.swift", message: "\(target.name) must not depend on \($0).")
            }
        }
    }
}
