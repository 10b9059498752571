import InletCapture
package import InletCore
import InletHTTPServer
import InletSystem

/// Reads configurations: checks a text against its shape, its URIs against a registry, and values that depend on each
/// other. Opens no source or sink.
package struct ConfigurationReader: Sendable {
    /// The available sources and sinks, and the files that their options may read.
    package var registry: PluginRegistry
    /// The folder of systemd's credentials; nil if there is no such folder.
    package var credentials: String?

    /// Runs sources in separate processes; nil if that is not possible.
    package var makeProcess: CameraProcess.Maker?
    /// Makes the WebRTC senders of cameras; nil for a build without WebRTC.
    package var makeWebRTC: CameraWebRTCRequest.Maker?
    /// Makes the RTSP server of cameras; nil for a build without it.
    package var makeRestream: RestreamRequest.Maker?

    package init(
        registry: PluginRegistry, credentials: String? = nil, makeProcess: CameraProcess.Maker? = nil,
        makeWebRTC: CameraWebRTCRequest.Maker? = nil, makeRestream: RestreamRequest.Maker? = nil
    ) {
        self.makeRestream = makeRestream
        (self.registry, self.credentials, self.makeProcess) = (registry, credentials, makeProcess)
        self.makeWebRTC = makeWebRTC
    }

    /// Changes by the API that are read in addition to a text: cameras that were set, or removed (nil).
    package typealias Changes = [String: ConfigurationNode?]

    /// Returns the configuration in a file, in which an overlay's cameras replace the file's.
    ///
    /// - Throws: all problems of the configuration.
    package func read(path: String, overlay: Changes = [:]) throws(ConfigurationProblems) -> ServeConfiguration {
        try read(try Self.text(at: path), overlay: overlay)
    }

    /// Returns the text of a file.
    ///
    /// - Throws: a problem if it cannot be read.
    package static func text(at path: String) throws(ConfigurationProblems) -> [UInt8] {
        do throws(InletError) {
            return try RegularFile.read(
                path, most: YAMLDocument.longest, content: "a configuration",
                advice: "A configuration is a YAML file.")
        } catch {
            throw ConfigurationProblems([ConfigurationProblem(error.description, at: .none)])
        }
    }

    /// Returns the configuration in a text.
    ///
    /// - Throws: all problems of the configuration.
    package func read(_ text: [UInt8], overlay: Changes = [:]) throws(ConfigurationProblems) -> ServeConfiguration {
        var root: ConfigurationNode?
        do throws(ConfigurationProblem) {
            root = try YAMLDocument.read(text)
        } catch {
            throw ConfigurationProblems([error])
        }
        guard let root else {
            throw ConfigurationProblems([
                .init(
                    "The text is empty. Write cameras:, and below it a line such as '  door: rtsp://camera/main'.",
                    at: .none)
            ])
        }
        var problems: [ConfigurationProblem] = []
        ConfigurationShape.configuration.check(root, path: "", into: &problems)
        // Values of a wrong shape cannot be examined, but wrong URIs in the rest can.
        let configuration = configuration(of: root, overlay: overlay, &problems)
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
        return configuration
    }

    private func configuration(
        of root: ConfigurationNode, overlay: Changes, _ problems: inout [ConfigurationProblem]
    ) -> ServeConfiguration {
        var configuration = ServeConfiguration()
        configuration.server = server(root["server"], &problems)
        configuration.webhooks = webhooks(root["webhooks"], &problems)
        let defaults = root["defaults"]
        configuration.defaultProcess = Self.process(Values(own: ConfigurationNode(.empty), defaults: defaults))
        var nodes: [(String, ConfigurationNode)] = []
        for member in root["cameras"]?.members ?? [] where overlay[member.key] == nil {
            nodes.append((member.key, member.value))
        }
        for (name, node) in overlay.sorted(by: { $0.key < $1.key }) {
            guard let node else { continue }
            ConfigurationShape.camera.check(node, path: "cameras.\(name)", into: &problems)
            nodes.append((name, node))
        }
        if nodes.count > ServeConfiguration.mostCameras {
            problems.append(.init("There are more than \(ServeConfiguration.mostCameras) cameras.", at: .none))
        }
        var writers: [String: String] = [:]
        for (name, node) in nodes.prefix(ServeConfiguration.mostCameras) where CameraName.isValid(name) {
            let path = "cameras.\(name)"
            guard let camera = camera(name, node, defaults: defaults, path: path, &problems) else { continue }
            configuration.cameras[name] = camera
            for sink in camera.sinks where !sink.uri.hasBytePrefix("null:") {
                if let other = writers.updateValue(name, forKey: sink.uri) {
                    problems.append(
                        .init(
                            "The camera '\(other)' has the same sink \(sink). Add {camera} to it, which is replaced by the camera's name.",
                            at: node.place, path: path,
                            limited: "Another camera has the same sink. Add {camera} to it, which is replaced by "
                                + "the camera's name."))
                }
            }
        }
        configuration.cores = root["budget"]?["cores"]?.scalar.flatMap(ScalarRule.coreCount)
        checkBudget(root["budget"], configuration.cameras, &problems)
        return configuration
    }

    /// Checks that the cameras' own processes fit in their total memory.
    private func checkBudget(
        _ budget: ConfigurationNode?, _ cameras: [String: CameraSettings], _ problems: inout [ConfigurationProblem]
    ) {
        guard let node = budget?["memory"], let most = node.scalar.flatMap(ScalarRule.byteCount) else { return }
        var (sum, count) = (0, 0)
        for (name, camera) in cameras.sorted(by: { $0.key < $1.key }) {
            guard case .own(let memoryLimit) = camera.policies.process else { continue }
            guard let memoryLimit else {
                problems.append(
                    .init(
                        "The budget needs the memory limit of the camera's own process. Add 'memory:', such as 512M.",
                        at: node.place, path: "cameras.\(name)"))
                continue
            }
            sum = sum.adding(saturating: memoryLimit)
            count += 1
        }
        guard sum > most else { return }
        problems.append(
            .init(
                "The processes of \(count) cameras may use \(sum) bytes together, but the budget is \(most). Lower "
                    + "'memory:' of some, remove a camera, or raise the budget.",
                at: node.place, path: "budget.memory", limited: "The budget is exceeded."))
    }

    /// Returns the source of a URI, as a camera with the given name would have it. Opens nothing.
    ///
    /// - Parameter process: the process in which the source runs. A source that only the daemon can open runs in the
    ///   daemon. The default is the daemon's process.
    /// - Throws: the problem of the URI.
    package func source(
        _ uri: String, camera name: String, process: ProcessPolicy = .shared
    ) throws(ConfigurationProblems) -> any FrameSourceConfiguration {
        var problems: [ConfigurationProblem] = []
        var source: (any FrameSourceConfiguration)?
        let node = ConfigurationNode(.scalar(uri), at: .none)
        if let uri = expanded(uri, camera: name, node, "source", &problems) {
            check(node, path: "source", &problems) {
                let plain = try registry.source(uri)
                source = plain
                guard case .own(let memoryLimit) = process, !Self.readsStandardInput(uri), let makeProcess else {
                    return
                }
                let request = CameraProcess.Request(
                    camera: name, uri: uri, redactedURI: plain.redactedURI, memoryLimit: memoryLimit)
                source = makeProcess(request).configuration
            }
        }
        guard let source, problems.isEmpty else { throw ConfigurationProblems(problems) }
        return source
    }

    /// Returns the settings of a camera; nil if the camera has no valid source.
    ///
    /// - Parameters:
    ///   - defaults: the configuration's values for all cameras.
    ///   - path: the keys that lead to the camera, for problems.
    package func camera(
        _ name: String, _ node: ConfigurationNode, defaults: ConfigurationNode?, path: String,
        _ problems: inout [ConfigurationProblem]
    ) -> CameraSettings? {
        // The shape has been checked: invalid values are already reported and are skipped here.
        let place = node["source"] ?? node
        guard let written = place.scalar, !written.isEmpty,
            let source = expanded(written, camera: name, place, path, &problems)
        else { return nil }
        check(place, path: node["source"] == nil ? path : "\(path).source", &problems) {
            _ = try registry.source(source)
        }
        let values = Values(own: node, defaults: defaults)
        let key = "maximum-lag"
        let limited = limitingLag(of: source, own: node[key], defaults: defaults?[key], path: path, &problems)
        var settings = CameraSettings(name: name, source: limited)
        settings.policies = policies(values)
        checkProcess(settings, node, path, &problems)
        let list = values["sinks"]
        for (index, sink) in (list?.elements ?? []).prefix(32).enumerated() {
            let place = sink["uri"] ?? sink
            let sinkPath = "\(node["sinks"] == nil ? "defaults" : path).sinks[\(index)]"
            guard let written = place.scalar, !written.isEmpty,
                let uri = expanded(written, camera: name, place, sinkPath, &problems)
            else { continue }
            check(place, path: sinkPath, &problems) { _ = try registry.sink(uri) }
            let own = Values(own: sink, defaults: nil)
            let restart = own["retry"] ?? values["sink-retry"]
            settings.sinks.append(
                SinkSettings(
                    uri: uri, queue: (own["queue"] ?? values["queue"])?.scalar.flatMap(ScalarRule.queue),
                    onFailure: Self.failurePolicy(restart?.scalar)))
        }
        let doubles = Dictionary(grouping: settings.sinks, by: \.uri).filter { $0.value.count > 1 }
        for double in doubles.values.compactMap(\.first) {
            problems.append(.init("The sink \(double) is listed twice. Remove one.", at: node.place, path: path))
        }
        return settings
    }

    private func policies(_ values: Values) -> CameraPolicies {
        var policies = CameraPolicies()
        if let text = values["retry"]?.scalar, case .some(.some(let count)) = ScalarRule.repetitions(text) {
            policies.retry = .attempts(count)
        }
        policies.timeout = values["timeout"]?.scalar.flatMap(ScalarRule.duration)
        policies.giveUp = values["give-up"]?.scalar.flatMap(ScalarRule.duration)
        if let picture = values["outage"]?.scalar.flatMap(OutagePolicy.Picture.init) { policies.outage = picture }
        if let time = values["on-demand"]?.scalar.flatMap(ScalarRule.onDemand), time > .zero {
            policies.closesUnwatchedAfter = time
        }
        if let view = values["view"] {
            if let size = view["max-size"]?.scalar.flatMap(ScalarRule.viewSize) { policies.view.largestSize = size }
            if let rate = view["max-fps"]?.scalar.flatMap(ScalarRule.viewRate) { policies.view.frameRate = rate }
            if let quality = view["quality"]?.scalar.flatMap({ TextBytes.number($0.utf8, upTo: 100) }), quality > 0 {
                policies.view.quality = quality
            }
        }
        policies.record = record(values["record"])
        policies.process = Self.process(values)
        policies.priority = values["priority"]?.scalar.flatMap(CameraPriority.init) ?? policies.priority
        if let choices = values["degrade"]?.elements {
            // A step that is listed twice is taken once.
            var seen: Set<DegradeChoice> = []
            policies.degrade = choices.prefix(DegradeChoice.allCases.count)
                .compactMap { $0.scalar.flatMap(DegradeChoice.init) }.filter { seen.insert($0).inserted }
        }
        return policies
    }

    private static func process(_ values: Values) -> ProcessPolicy {
        guard values["process"]?.scalar == "own" else { return .shared }
        return .own(memoryLimit: values["memory"]?.scalar.flatMap(ScalarRule.byteCount))
    }

    /// Checks the requirements of the camera's own process.
    private func checkProcess(
        _ settings: CameraSettings, _ node: ConfigurationNode, _ path: String,
        _ problems: inout [ConfigurationProblem]
    ) {
        guard case .own = settings.policies.process else {
            if let memory = node["memory"] {
                problems.append(
                    .init(
                        "This key limits the camera's own process. Add 'process: own', or remove this key.",
                        at: memory.place, path: ConfigurationShape.join(path, "memory")))
            }
            return
        }
        let place = (node["process"] ?? node).place
        let inner = ConfigurationShape.join(path, "process")
        if makeProcess == nil {
            problems.append(
                .init(
                    "This program does not run cameras in separate processes. Remove this key.", at: place, path: inner)
            )
        }
        if takesFirstCamera(settings.source) {
            problems.append(
                .init(
                    "'v4l2:' without an address selects the first camera, which may be a different one for each new "
                        + "process. Add an address from 'inlet devices', or write 'process: shared'.",
                    at: place, path: inner))
        }
        if Self.readsStandardInput(settings.source) {
            problems.append(
                .init(
                    "Only the daemon's own process has this source. Remove this key.",
                    at: place, path: inner))
        }
    }

    /// Whether a source is a USB camera that its URI does not name.
    private func takesFirstCamera(_ uri: String) -> Bool {
        // A problem of the URI is reported elsewhere.
        (try? registry.source(uri))?.redactedURI == "v4l2:"
    }

    /// Whether a source is the standard input, or frames that the program itself provides.
    private static func readsStandardInput(_ uri: String) -> Bool {
        let address = uri.prefix(upToByte: "?")
        return address == "-" || address == "pipe:" || address == "pipe:0" || address.hasBytePrefix("inject:")
    }

    private func record(_ node: ConfigurationNode?) -> RecordSettings {
        var settings = RecordSettings()
        guard let node else { return settings }
        settings.folder = node["folder"]?.scalar
        settings.before = node["before"]?.scalar.flatMap(ScalarRule.duration) ?? settings.before
        settings.after = node["after"]?.scalar.flatMap(ScalarRule.duration) ?? settings.after
        settings.longest = node["longest"]?.scalar.flatMap(ScalarRule.duration) ?? settings.longest
        settings.memory = node["memory"]?.scalar.flatMap(ScalarRule.byteCount) ?? settings.memory
        settings.keptSize = node["keep-size"]?.scalar.flatMap(ScalarRule.byteCount) ?? settings.keptSize
        settings.events = Set((node["events"]?.elements ?? []).prefix(32).compactMap(\.scalar))
        return settings
    }

    private static func failurePolicy(_ text: String?) -> SinkFailurePolicy {
        guard let text, case .some(.some(let count)) = ScalarRule.repetitions(text) else { return .restart() }
        guard count > 0 else { return .detach }
        var delay = RestartDelay()
        delay.attempts = count
        return .restart(after: delay)
    }

    /// A camera's own values and the values for all cameras.
    private struct Values {
        var own: ConfigurationNode
        var defaults: ConfigurationNode?
        subscript(key: String) -> ConfigurationNode? { own[key] ?? defaults?[key] }
    }

    /// Returns a URI with the camera's name and the folder of credentials filled in.
    private func expanded(
        _ text: String, camera: String, _ node: ConfigurationNode, _ path: String,
        _ problems: inout [ConfigurationProblem]
    ) -> String? {
        expanded(Self.replace("{camera}", in: text, by: camera), node, path, &problems)
    }

    /// Returns a URI with the folder of credentials filled in.
    func expanded(
        _ text: String, _ node: ConfigurationNode, _ path: String, _ problems: inout [ConfigurationProblem]
    ) -> String? {
        guard text.containsBytes("{credentials}") else { return text }
        guard let credentials else {
            problems.append(
                .init(
                    "{credentials} is replaced by the folder of systemd's credentials, but there is no such folder. Start the daemon as a service with LoadCredential=.",
                    at: node.place, path: path))
            return nil
        }
        return Self.replace("{credentials}", in: text, by: PercentEncoding.encode(credentials))
    }

    static func replace(_ mark: String, in text: String, by value: String) -> String {
        var (result, rest) = ("", text[...])
        while let range = rest.firstRange(ofBytes: mark) {
            result += rest[..<range.lowerBound] + value
            rest = rest[range.upperBound...]
        }
        return result + rest
    }

    func check(
        _ node: ConfigurationNode, path: String, _ problems: inout [ConfigurationProblem], _ body: () throws -> Void
    ) {
        do {
            try body()
        } catch {
            problems.append(
                .init(InletError(wrapping: error, operation: "reading the URI").description, at: node.place, path: path)
            )
        }
    }
}
