package import InletCore
package import InletTLS
package import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the server's certificate and key again on SIGHUP, and when their files have changed. Open connections
/// continue. A pair that cannot be used changes nothing.
package struct CertificateService: Service {
    private let files: TLSFiles
    private let certificate: TLSServerCertificate
    private let logger: Logger
    private let report: @Sendable (CameraSetEvent) -> Void
    private let interval: Duration
    private let changes: [FileChange]
    /// The threads that read the files, because their disk may hang.
    private let lanes = FileLanes()

    /// Reads the pair.
    ///
    /// - Parameters:
    ///   - report: called for each pair that is read or cannot be read.
    ///   - interval: the time between two checks of the files. The default is a second.
    /// - Throws: ``InletError`` if the pair cannot be read or used.
    package init(
        _ files: TLSFiles, logger: Logger, interval: Duration = .seconds(1),
        report: @escaping @Sendable (CameraSetEvent) -> Void
    ) throws(InletError) {
        (self.files, self.logger, self.interval, self.report) = (files, logger, interval, report)
        // Signatures are taken before the files are read, so that a file that changes in between is read again.
        changes = files.signatures.map { FileChange(read: $0) }
        certificate = try files.load()
    }

    /// Makes the TLS handler of a connection.
    package func makeHandler() throws(InletError) -> TLSServerHandler { try TLSServerHandler(certificate) }

    package func run() async throws {
        var changes = changes
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
                    await reload()
                }
            }
            while !Task.isShuttingDownGracefully {
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
                if Task.isShuttingDownGracefully || Task.isCancelled { break }
                // Both files are checked, because the second file of a pair may change later.
                guard let signatures = try? await lanes.secrets.run({ [files] _ in files.signatures }) else { break }
                let changed = changes.indices.filter { changes[$0].note(signatures[$0]) }
                if !changed.isEmpty { await reload() }
            }
            await group.waitForAll()
        }
    }

    private func reload() async {
        do throws(InletError) {
            try await lanes.secrets.run { [files, certificate] _ throws(InletError) in
                try files.load(into: certificate)
            }
            logger.notice("The certificate was read again")
            report(CameraSetEvent("certificate-read", "The certificate was read again.", camera: nil))
        } catch {
            logger.error("The previous certificate stays in use: \(error)")
            report(CameraSetEvent("certificate-failed", error.description, camera: nil))
        }
    }
}
