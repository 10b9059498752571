package import InletCore
import InletSystem
package import Logging
import NIOCore
import NIOPosix

/// Keeps the configuration of a fleet: reads the file and its overlay, applies what differs, and persists what the API
/// changes. A text with an error changes nothing.
///
/// Files are read and written on a thread that serves nothing else, so a disk that hangs delays only changes.
package actor ConfigurationKeeper {
    // Unsafe: an executor that is referred to without a count. It lives as long as the process.
    private static let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe Self.thread.next().executor.asUnownedSerialExecutor()
    }

    private let path: String
    private let reader: ConfigurationReader
    private let fleet: Fleet
    private let webhooks: WebhookHub?
    private let logger: Logger
    private var overlay: Overlay
    /// The text of the file that is in force.
    private var text: [UInt8]
    private var configuration: ServeConfiguration
    private var version = 0

    /// Reads a configuration. Starts nothing.
    ///
    /// - Parameter webhooks: is told of those that the configuration names; nil if nobody sends events.
    /// - Throws: everything that is wrong with it.
    package init(
        path: String, overlayPath: String? = nil, reader: ConfigurationReader, fleet: Fleet,
        webhooks: WebhookHub? = nil, logger: Logger
    ) throws(ConfigurationProblems) {
        (self.path, self.reader, self.fleet, self.logger) = (path, reader, fleet, logger)
        self.webhooks = webhooks
        text = try ConfigurationReader.text(at: path)
        overlay = Overlay(recovering: overlayPath ?? Overlay.path(beside: path))
        configuration = try reader.read(text, overlay: overlay.nodes)
    }

    /// The signature of the configuration's file now.
    var signature: FileSignature { FileSignature(path: path) }

    /// Reports that the configuration's file was replaced where this process does not see it.
    func reportOrphan() {
        let text =
            "\(path) was replaced outside of this container, which still sees the former file. Mount its folder instead "
            + "of the file, and start the container again."
        logger.error("\(text)")
        fleet.report(FleetEvent("configuration-stale", text, camera: nil))
    }

    /// What the server was told at the start.
    package var server: ServerSettings { configuration.server }

    /// The sources and sinks that there are.
    nonisolated var registry: PluginRegistry { reader.registry }

    /// Returns the source that a URI names, as a camera of a name would have it, in the process that the defaults say.
    /// Opens nothing.
    ///
    /// - Throws: what is wrong with it.
    func source(
        _ uri: String, camera name: String
    ) throws(ConfigurationProblems) -> any FrameSourceConfiguration {
        try reader.source(uri, camera: name, process: configuration.defaultProcess)
    }

    /// Starts the cameras.
    package func start() async {
        if let damage = overlay.damage {
            logger.error("\(damage)")
            fleet.report(FleetEvent("changes-damaged", "\(damage)", camera: nil))
        }
        await apply()
    }

    /// Reads the file and its overlay again and applies what differs.
    ///
    /// - Parameter isTrial: whether nothing is done but to say what would be. The default is false.
    /// - Returns: what was done; or everything that is wrong, and nothing was done.
    @discardableResult
    package func reload(isTrial: Bool = false) async -> Result<ReloadPlan, ConfigurationProblems> {
        do throws(ConfigurationProblems) {
            let text = try ConfigurationReader.text(at: path)
            // Someone may have edited or deleted the overlay since it was written here.
            let overlay = try readOverlay()
            let new = try reader.read(text, overlay: overlay.nodes)
            if isTrial { return .success(ReloadPlan(from: configuration.cameras, to: new.cameras)) }
            if new.server != configuration.server {
                logger.warning("What the configuration says of the server holds from the next start on")
            }
            (self.text, self.overlay, configuration) = (text, overlay, new)
        } catch {
            if !isTrial { logger.error("\(path) is not in force:\n\(error)") }
            return .failure(error)
        }
        return .success(await apply())
    }

    /// How a change of one camera ended.
    package enum Outcome: Sendable {
        case done(ReloadPlan)
        case wrong(ConfigurationProblems)
        case exists
        case missing
        /// The overlay says nothing of the camera.
        case unchanged
        /// It could not be persisted, and nothing was done.
        case failed(InletError)
    }

    /// Sets a camera, and persists it.
    ///
    /// - Parameters:
    ///   - camera: the camera as the file has it, in JSON.
    ///   - isNew: whether there must be no such camera yet.
    ///   - isTrial: whether nothing is done but to say what would be.
    package func set(_ name: String, _ camera: JSONValue, isNew: Bool, isTrial: Bool) async -> Outcome {
        // First: from here to the commit nothing waits, or a change that comes meanwhile would be lost.
        let balance = await fleet.balance
        if isNew, configuration.cameras[name] != nil { return .exists }
        guard CameraName.isValid(name) else {
            return .wrong(
                ConfigurationProblems([
                    .init("The name of a camera takes \(CameraName.rule.description).", at: .none, path: "name")
                ]))
        }
        var changed = overlay
        changed.set(name, camera)
        return await change(to: changed, within: balance, isTrial: isTrial)
    }

    /// Removes a camera, and persists that.
    package func remove(_ name: String, isTrial: Bool) async -> Outcome {
        guard configuration.cameras[name] != nil else { return .missing }
        var changed = overlay
        changed.setPaused(name, false)
        if names(in: text).contains(name) {
            changed.set(name, .null)
        } else {
            changed.forget(name)
        }
        return await change(to: changed, within: nil, isTrial: isTrial)
    }

    /// Forgets what the overlay says of a camera, and persists that: the camera is again as the file says, and gone if
    /// the file does not name it.
    package func revert(_ name: String, isTrial: Bool) async -> Outcome {
        // First, as in ``set(_:_:isNew:isTrial:)``: a camera that was removed comes back.
        let balance = await fleet.balance
        guard overlay.cameras[name] != nil else { return .unchanged }
        var changed = overlay
        changed.forget(name)
        return await change(to: changed, within: balance, isTrial: isTrial)
    }

    /// Pauses a camera or ends its pause, and persists that: a camera that was paused for privacy stays so when the
    /// daemon starts again. If it cannot be persisted, it takes effect nevertheless, and the event
    /// `changes-failed` reports that.
    ///
    /// - Returns: whether there is such a camera.
    package func setPaused(_ name: String, _ isPaused: Bool) async -> Bool {
        guard let camera = await fleet.camera(name) else { return false }
        if isPaused { await camera.pause() } else { await camera.resume() }
        guard overlay.paused.contains(name) != isPaused else { return true }
        overlay.setPaused(name, isPaused)
        do throws(InletError) {
            try overlay.write()
        } catch {
            let text = "The daemon will not know after a restart whether the camera is paused: \(error)"
            logger.error("\(name): \(text)")
            fleet.report(FleetEvent("changes-failed", text, camera: name))
        }
        return true
    }

    private func readOverlay() throws(ConfigurationProblems) -> Overlay {
        do throws(ConfigurationProblem) {
            return try Overlay(path: overlay.path)
        } catch {
            throw ConfigurationProblems([error])
        }
    }

    /// - Parameter balance: what new cameras must fit in; nil if there are none.
    private func change(to changed: Overlay, within balance: Fleet.Balance?, isTrial: Bool) async -> Outcome {
        let new: ServeConfiguration
        do throws(ConfigurationProblems) {
            new = try reader.read(text, overlay: changed.nodes)
        } catch {
            return .wrong(error)
        }
        for (name, camera) in new.cameras where configuration.cameras[name] == nil {
            if let problem = balance?.refusal(of: camera) { return .wrong(ConfigurationProblems([problem])) }
        }
        guard !isTrial else {
            return .done(ReloadPlan(from: configuration.cameras, to: new.cameras))
        }
        var changed = changed
        do throws(InletError) {
            try changed.write()
        } catch {
            return .failed(error)
        }
        (overlay, configuration) = (changed, new)
        return .done(await apply())
    }

    private func names(in text: [UInt8]) -> Set<String> {
        Set((try? YAMLDocument.read(text))?["cameras"]?.members.map(\.key) ?? [])
    }

    @discardableResult
    private func apply() async -> ReloadPlan {
        version += 1
        webhooks?.apply(configuration.webhooks)
        // Both as they are now: while the fleet is waited for, another change may come.
        let (cameras, version) = (configuration.cameras, version)
        await fleet.limitCores(to: configuration.cores)
        return await fleet.apply(cameras, paused: overlay.paused, version: version)
    }
}
