import InletSystem
import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the configuration again on SIGHUP, and when its file has changed.
package struct ReloadService: Service {
    private let path: String
    private let keeper: ConfigurationKeeper
    private let interval: Duration

    /// - Parameter interval: how often the file is looked at. The default is a second.
    package init(path: String, keeper: ConfigurationKeeper, interval: Duration = .seconds(1)) {
        (self.path, self.keeper, self.interval) = (path, keeper, interval)
    }

    package func run() async throws {
        var change = FileChange(read: FileSignature(path: path))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [keeper] in
                for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
                    await keeper.reload()
                }
            }
            while !Task.isShuttingDownGracefully {
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
                if Task.isShuttingDownGracefully || Task.isCancelled { break }
                if change.note(FileSignature(path: path)) { await keeper.reload() }
            }
            await group.waitForAll()
        }
    }
}
