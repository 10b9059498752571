package import InletCore
import InletSystem
package import Logging
import NIOCore
import NIOPosix

/// Keeps the configuration of a daemon: reads the file and its overlay, applies the differences, and persists the API's
/// changes. A text with an error changes nothing.
///
/// Files are read and written on a separate thread, so a disk that hangs delays only changes.
package actor ConfigurationKeeper {
    // Unsafe: an executor without a reference count. It lives as long as the process.
    private static let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe Self.thread.next().executor.asUnownedSerialExecutor()
    }

    private let path: String
    private let reader: ConfigurationReader
    private let cameraSet: CameraSet
    private let webhooks: WebhookHub?
    private let logger: Logger
    private var overlay: Overlay
    /// The text of the file as it is applied now.
    private var text: [UInt8]
    private var configuration: ServeConfiguration
    private var version = 0

    /// Reads a configuration. Starts nothing.
    ///
    /// - Parameter webhooks: receives the webhooks of the configuration; nil if no events are sent.
    /// - Throws: all problems of the configuration.
    package init(
        path: String, overlayPath: String? = nil, reader: ConfigurationReader, cameraSet: CameraSet,
        webhooks: WebhookHub? = nil, logger: Logger
    ) throws(ConfigurationProblems) {
        (self.path, self.reader, self.cameraSet, self.logger) = (path, reader, cameraSet, logger)
        self.webhooks = webhooks
        text = try ConfigurationReader.text(at: path)
        overlay = Overlay(recovering: overlayPath ?? Overlay.path(beside: path))
        configuration = try reader.read(text, overlay: overlay.nodes)
    }

    /// The current signature of the configuration's file.
    var signature: FileSignature { FileSignature(path: path) }

    /// Reports that the configuration's file was replaced, but this process still sees the old one.
    func reportOrphan() {
        let text =
            "\(path) was replaced outside of this container, which still sees the old file. Mount the file's folder "
            + "instead of the file, and restart the container."
        logger.error("\(text)")
        cameraSet.report(CameraSetEvent("configuration-stale", text, camera: nil))
    }

    /// The server's settings. The running server uses those from its start.
    package var server: ServerSettings { configuration.server }

    /// The available sources and sinks.
    nonisolated var registry: PluginRegistry { reader.registry }

    /// Returns the source of a URI, as a camera with the given name would have it, in the process of the defaults.
    /// Opens nothing.
    ///
    /// - Throws: the problems of the URI.
    func source(
        _ uri: String, camera name: String
    ) throws(ConfigurationProblems) -> any FrameSourceConfiguration {
        try reader.source(uri, camera: name, process: configuration.defaultProcess)
    }

    /// Starts the cameras.
    package func start() async {
        overlay.deleteLeftovers()
        if let damage = overlay.damage {
            logger.error("\(damage)")
            cameraSet.report(CameraSetEvent("changes-damaged", "\(damage)", camera: nil))
        }
        await apply()
    }

    /// Reads the file and its overlay again and applies the differences.
    ///
    /// - Parameter isTrial: whether to return the changes without making them. The default is false.
    /// - Returns: the changes; or all problems, and then nothing has changed.
    @discardableResult
    package func reload(isTrial: Bool = false) async -> Result<ReloadPlan, ConfigurationProblems> {
        do throws(ConfigurationProblems) {
            let text = try ConfigurationReader.text(at: path)
            // A person may have edited or deleted the overlay since this class wrote it.
            let overlay = try readOverlay()
            let new = try reader.read(text, overlay: overlay.nodes)
            if isTrial { return .success(ReloadPlan(from: configuration.cameras, to: new.cameras)) }
            if new.server != configuration.server {
                logger.warning("Changes of the server's settings take effect at the next start")
            }
            (self.text, self.overlay, configuration) = (text, overlay, new)
        } catch {
            if !isTrial { logger.error("\(path) was not applied:\n\(error)") }
            return .failure(error)
        }
        return .success(await apply())
    }

    /// The outcome of a change of one camera.
    package enum Outcome: Sendable {
        case done(ReloadPlan)
        case wrong(ConfigurationProblems)
        case exists
        case missing
        /// The overlay has no changes of the camera.
        case unchanged
        /// The change could not be persisted, so it was not made.
        case failed(InletError)
    }

    /// Sets a camera, and persists the change.
    ///
    /// - Parameters:
    ///   - camera: the camera as in the configuration's file, in JSON.
    ///   - isNew: whether the camera must not exist yet.
    ///   - isTrial: whether to return the changes without making them.
    package func set(_ name: String, _ camera: JSONValue, isNew: Bool, isTrial: Bool) async -> Outcome {
        // This comes first, because nothing may wait from here to the commit: a change made meanwhile would be lost.
        let balance = await cameraSet.balance
        if isNew, configuration.cameras[name] != nil { return .exists }
        guard CameraName.isValid(name) else {
            return .wrong(
                ConfigurationProblems([
                    .init("The name of a camera must be \(CameraName.rule.description).", at: .none, path: "name")
                ]))
        }
        var changed = overlay
        changed.set(name, camera)
        return await change(to: changed, within: balance, isTrial: isTrial)
    }

    /// Removes a camera, and persists the change.
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

    /// Discards the overlay's changes of a camera, and persists this. The file's settings apply again; if the file does
    /// not name the camera, the camera is removed.
    package func revert(_ name: String, isTrial: Bool) async -> Outcome {
        // This comes first, as in ``set(_:_:isNew:isTrial:)``, because a removed camera may be added again.
        let balance = await cameraSet.balance
        guard overlay.cameras[name] != nil else { return .unchanged }
        var changed = overlay
        changed.forget(name)
        return await change(to: changed, within: balance, isTrial: isTrial)
    }

    /// Pauses a camera or ends its pause, and persists this: a camera that was paused for privacy stays paused when the
    /// daemon is restarted. If persisting fails, the change still takes effect, and the event `changes-failed` reports
    /// the failure.
    ///
    /// - Returns: whether the camera exists.
    package func setPaused(_ name: String, _ isPaused: Bool) async -> Bool {
        guard let camera = await cameraSet.camera(name) else { return false }
        if isPaused { await camera.pause() } else { await camera.resume() }
        guard overlay.paused.contains(name) != isPaused else { return true }
        overlay.setPaused(name, isPaused)
        do throws(InletError) {
            try overlay.write()
        } catch {
            let text = "After a restart, the daemon will not know whether the camera is paused: \(error)"
            logger.error("\(name): \(text)")
            cameraSet.report(CameraSetEvent("changes-failed", text, camera: name))
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

    /// - Parameter balance: the budget in which new cameras must fit; nil if no camera is added.
    private func change(to changed: Overlay, within balance: CameraSet.Balance?, isTrial: Bool) async -> Outcome {
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
        // Both are read now, because another change may be made while this one waits.
        let (cameras, version) = (configuration.cameras, version)
        await cameraSet.limitCores(to: configuration.cores)
        return await cameraSet.apply(cameras, paused: overlay.paused, version: version)
    }
}
