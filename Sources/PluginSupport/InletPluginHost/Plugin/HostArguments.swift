/// The command line of `inlet-plugin-host`.
struct HostArguments {
    /// The code to run.
    enum Code {
        /// A library, by its path.
        case library(String)
        /// A program and its arguments, which speaks the protocol itself.
        case command([String])
    }

    /// The reason why the command line was not understood.
    struct Fault: Error {
        let text: String
    }

    /// The code to run.
    var code = Code.library("")
    /// Whether the plug-in may use the network.
    var mayUseNetwork = false
    /// Whether the plug-in may use devices.
    var mayUseDevices = false
    /// Files and folders that the plug-in may read and write.
    var files: [String] = []
    /// Files that were made for the plug-in to read and write. A symbolic link in the place of one is not followed.
    var newFiles: [String] = []
    /// Folders that the plug-in may read, and run programs of.
    var folders: [String] = []
    /// The most address space, in bytes.
    var memory = 2 << 30
    /// The sandbox's layers that the user disabled.
    var without: Set<SandboxLayer> = []
    /// Whether the process only reports the plug-in's interfaces.
    var isProbe = false
    /// The exercise for `inlet plugins verify` that is run instead of an instance; nil for none.
    var exercise: String?

    /// Whether there is a file that the plug-in may write.
    var mayWrite: Bool { !files.isEmpty || !newFiles.isEmpty }

    /// Reads a command line, without the program's name.
    init(_ words: [String]) throws(Fault) {
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--network": mayUseNetwork = true
            case "--devices": mayUseDevices = true
            case "--probe": isProbe = true
            case "--exercise": exercise = try Self.value(of: word, &rest)
            case "--file": try files.append(Self.value(of: word, &rest))
            case "--new-file": try newFiles.append(Self.value(of: word, &rest))
            case "--folder": try folders.append(Self.value(of: word, &rest))
            case "--memory":
                let text = try Self.value(of: word, &rest)
                guard let bytes = Int(text), bytes > 0 else { throw Fault(text: "--memory takes bytes, not '\(text)'") }
                memory = bytes
            case "--without":
                let text = try Self.value(of: word, &rest)
                guard let layer = SandboxLayer(rawValue: text) else {
                    throw Fault(text: "--without takes landlock, seccomp or limits, not '\(text)'")
                }
                without.insert(layer)
            case "--library":
                code = .library(try Self.value(of: word, &rest))
                guard rest.isEmpty else { throw Fault(text: "unexpected '\(rest[rest.startIndex])'") }
                return
            case "--command":
                guard !rest.isEmpty else { throw Fault(text: "--command needs a program") }
                code = .command(Array(rest))
                return
            default: throw Fault(text: "unknown option '\(word)'")
            }
        }
        throw Fault(text: "--library or --command is missing")
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Fault) -> String {
        guard let value = rest.popFirst() else { throw Fault(text: "\(option) needs a value") }
        return value
    }
}
