import InletSystem
import Logging
import ServiceLifecycle
package import UnixSignals

/// Reads the configuration again on SIGHUP, and when its file has changed.
package struct ReloadService: Service {
    private let path: String
    private let keeper: ConfigurationKeeper
    private let audit: AuditLog
    private let signals: UnixSignalsSequence
    private let interval: Duration

    /// - Parameters:
    ///   - signals: SIGHUP, trapped before the daemon reports that it is ready. Until then the signal would end the
    ///     process.
    ///   - interval: the time between two checks of the file. The default is a second.
    package init(
        path: String, keeper: ConfigurationKeeper, audit: AuditLog, signals: UnixSignalsSequence,
        interval: Duration = .seconds(1)
    ) {
        (self.path, self.keeper, self.audit, self.interval) = (path, keeper, audit, interval)
        self.signals = signals
    }

    package func run() async throws {
        var change = FileChange(read: await keeper.signature)
        var isOrphaned = false
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in signals.cancelOnGracefulShutdown() {
                    await reload(for: .signal)
                }
            }
            while !Task.isShuttingDownGracefully {
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
                if Task.isShuttingDownGracefully || Task.isCancelled { break }
                let signature = await keeper.signature
                if change.note(signature) { await reload(for: .file) }
                if signature.isOrphaned, !isOrphaned { await keeper.reportOrphan() }
                isOrphaned = signature.isOrphaned
            }
            await group.waitForAll()
        }
    }

    private func reload(for actor: AuditRecord.Actor) async {
        let outcome: AuditRecord.Outcome =
            switch await keeper.reload() {
            case .success: .done
            // The status with which the API rejects the same configuration.
            case .failure: .refused(422)
            }
        audit.note(AuditRecord(actor: actor, action: "reload", camera: nil, outcome: outcome))
    }
}
