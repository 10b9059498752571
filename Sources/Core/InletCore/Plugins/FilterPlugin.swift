/// Filters of pictures that an application knows by name.
public struct FilterPlugin: Sendable {
    /// The plug-in's name: one word, in lower case.
    public let name: String
    /// A summary of one sentence.
    public let summary: String
    private let make: @Sendable (PictureFilters) throws -> any PictureFilter

    /// - Parameters:
    ///   - name: the plug-in's name.
    ///   - summary: a summary of one sentence.
    ///   - makeFilter: makes an object that applies these filters, or throws if the plug-in lacks one of them. Called
    ///     on any thread.
    public init(
        _ name: String, summary: String,
        makeFilter: @escaping @Sendable (PictureFilters) throws -> any PictureFilter
    ) {
        self.name = name
        self.summary = summary
        make = makeFilter
    }

    /// Makes an object that applies these filters.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if one of them is not available.
    public func makeFilter(_ filters: PictureFilters) throws -> any PictureFilter { try make(filters) }
}
