import InletCore
import Logging
import Synchronization

/// The filters of a capture's pictures, made when they are first needed and shared by its sinks.
final class PictureFiltering: Sendable {
    private let plugins: [FilterPlugin]
    private let logger: Logger
    private let source: String
    private let made = Mutex<[PictureFilters: Made]>([:])

    private enum Made {
        case filter(any PictureFilter)
        /// No plug-in has the filters.
        case absent
    }

    init(_ plugins: [FilterPlugin], source: String, logger: Logger) {
        (self.plugins, self.source, self.logger) = (plugins, source, logger)
    }

    /// Returns those of the filters that can be applied. The first time that one cannot is logged.
    func available(_ filters: PictureFilters) -> PictureFilters {
        PictureFilters.names.keys.reduce(into: []) { result, filter in
            guard filters.contains(filter) else { return }
            let isMade = made.withLock { made in
                if case .filter = make(filter, &made) { true } else { false }
            }
            if isMade { result.insert(filter) }
        }
    }

    /// Returns a picture after filters that are ``available(_:)``.
    func filtered(
        _ picture: SourceFrame, previous: SourceFrame?, next: SourceFrame?, by filters: PictureFilters
    ) throws(InletError) -> SourceFrame {
        let result = made.withLock { made -> Result<SourceFrame, InletError> in
            guard case .filter(let filter) = make(filters, &made) else { return .success(picture) }
            do {
                return .success(try filter.filtered(picture, previous: previous, next: next))
            } catch {
                return .failure(InletError(wrapping: error, operation: "Filtering a picture"))
            }
        }
        return try result.get()
    }

    private func make(_ filters: PictureFilters, _ made: inout [PictureFilters: Made]) -> Made {
        if let known = made[filters] { return known }
        var failure = InletError(.unsupported, "No plug-in for filters is registered.")
        for plugin in plugins {
            do {
                let filter = Made.filter(try plugin.makeFilter(filters))
                made[filters] = filter
                return filter
            } catch {
                failure = InletError(wrapping: error, operation: "The filter \(plugin.name)")
            }
        }
        made[filters] = .absent
        let names = PictureFilters.names.filter { filters.contains($0.key) }.values.sorted()
        logger.warning("\(source): pictures stay as they are without \(names.joined(separator: " and ")): \(failure)")
        return .absent
    }
}

extension PictureFilters {
    /// Each filter with its name for people.
    fileprivate static let names: [PictureFilters: String] = [
        .deinterlacing: "deinterlacing", .toneMapping: "tone mapping",
    ]
}
