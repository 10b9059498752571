import FoundationEssentials
import Inlet

/// The report of `inlet capture`, for people and for machines.
struct CaptureReport: Encodable {
    /// The reason why a capture ended.
    enum End: String, Encodable {
        case durationLimit, sizeLimit, interrupted, streamEnded, failed

        /// The reason as text for people.
        var words: String {
            switch self {
            case .durationLimit: "duration limit reached"
            case .sizeLimit: "size limit reached"
            case .interrupted: "stopped"
            case .streamEnded: "end of stream"
            case .failed: "failed"
            }
        }
    }

    var bytes: UInt64
    var pictures: UInt64
    var keyPictures: UInt64
    var ended: End
    var error: RunReport.Failure?

    enum CodingKeys: String, CodingKey {
        case bytes, pictures, ended, error
        case keyPictures = "key_pictures"
    }

    /// The report as one line of JSON.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// The report as lines for a person.
    var text: String {
        let line = "\(ended.words): \(bytes) bytes, \(pictures) pictures, \(keyPictures) of them key frames"
        guard let error else { return line }
        return line + "\nerror: \(error.message)\nThe file contains the data received until then."
    }
}

extension ReportStyle {
    /// Writes a report to standard error.
    func write(_ report: CaptureReport) {
        switch self {
        case .json: Terminal.writeError(((try? report.json) ?? "{}") + "\n")
        case .text:
            Terminal.writeError(report.text + "\n" + (report.error.map { ErrorExplanation.hint(for: $0.code) } ?? ""))
        case .none:
            if let error = report.error { Terminal.writeError("error: \(error.message)\n") }
        }
    }
}
