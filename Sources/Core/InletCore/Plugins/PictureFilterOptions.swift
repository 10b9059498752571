/// The options with which the URI of a sink turns filters on and off: `deinterlace` and `tone-map`.
///
///     static let filters = PictureFilterOptions(default: .all)
///     configuration.filters = Self.filters.value(in: values)
public struct PictureFilterOptions: Sendable {
    private let options: [(filter: PictureFilters, option: PluginOption<Bool>)]

    /// - Parameter filters: the filters that are on if the URI does not mention them.
    public init(default filters: PictureFilters) {
        func option(_ filter: PictureFilters, _ name: String, _ summary: String) -> (PictureFilters, PluginOption<Bool>)
        {
            (filter, PluginOption(name, default: filters.contains(filter), summary))
        }
        options = [
            option(.deinterlacing, "deinterlace", "Make whole pictures of interlaced ones"),
            option(.toneMapping, "tone-map", "Map high dynamic range to what ordinary displays show"),
        ]
    }

    /// The options as a listing shows them.
    public var descriptions: [PluginOptionDescription] { options.map(\.option.description) }

    /// Returns the filters that are on.
    public func value(in values: PluginOptionValues) -> PictureFilters {
        options.reduce(into: []) { if values[$1.option] { $0.insert($1.filter) } }
    }
}
