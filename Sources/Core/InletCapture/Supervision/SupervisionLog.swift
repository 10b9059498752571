import InletCore
import Logging

/// Writes a capturer's events to its log, each as one line.
struct SupervisionLog: Sendable {
    let logger: Logger
    /// The source's URI, without credentials.
    let source: String

    func write(_ event: CapturerEvent) {
        switch event {
        case .stateChanged(let state): logger.log(level: state.logLevel, "\(source): \(state)")
        case .opened(let format):
            logger.debug(
                "\(source): opened",
                metadata: [
                    "size": "\(format.size)", "format": "\(format.pixelFormat)",
                    "rate": "\(format.frameRate.map(\.description) ?? "unknown")",
                ])
            if let name = format.colorSpace.transfer.highDynamicRangeName {
                logger.notice(
                    "\(source): high dynamic range (\(name)): tones are mapped for stills and pages. Other sinks get them unchanged without tone-map=true."
                )
            }
        case .sourceFailed(let error, let delay):
            let next = delay.map { "next attempt in \($0.inSeconds) s" } ?? "not tried again"
            logger.error("\(source): \(error.message) (\(next))", metadata: ["code": "\(error.code)"])
        case .sourceAbandoned(let error): logger.critical("\(source): \(error.message)")
        case .recovered(let outage): logger.notice("\(source): frames again after \(outage.inSeconds) s")
        case .lagging(true):
            logger.warning(
                "\(source): decoding does not keep up: pictures that would be late are left out. Lower the camera's size or rate, or run fewer streams."
            )
        case .lagging(false): logger.notice("\(source): decoding keeps up again")
        case .decoderFailed(let name, let error, let next):
            logger.error(
                "\(source): the decoder \(name) failed: \(error.message) (\(next) continues)",
                metadata: ["code": "\(error.code)"])
        case .transportChanged(let reason): logger.warning("\(source): \(reason)")
        case .detected(let detection):
            logger.info("\(source): \(detection.kind.rawValue) \(detection.isActive ? "begins" : "ends")")
        case .sourceUpdated(.taken(let version)): logger.notice("\(source): continues with \(version)")
        case .sourceUpdated(.refused(let error)):
            logger.error(
                "\(source): the new version of its plug-in is not used: \(error.message)",
                metadata: ["code": "\(error.code)"])
        case .sinkEnded(_, let name, let error):
            if let error { logger.error("\(name): \(error.message)", metadata: ["code": "\(error.code)"]) }
        case .sinkRestarting(_, let name, let error, let attempt, let delay):
            logger.error(
                "\(name): \(error.message) (created again in \(delay.inSeconds) s, attempt \(attempt))",
                metadata: ["code": "\(error.code)"])
        }
    }
}

extension CapturerState {
    fileprivate var logLevel: Logger.Level {
        switch self {
        case .stalled, .interrupted: .warning
        case .idle, .opening, .live, .waiting, .paused, .unwatched, .disabled, .ended: .info
        }
    }
}
