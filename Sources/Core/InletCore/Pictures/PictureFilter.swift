/// An object that applies ``PictureFilters`` to the pictures of one source, which may change their size and format at
/// any time.
///
/// Confined to one thread at a time. A picture never waits for a later call.
public protocol PictureFilter: AnyObject {
    /// Returns a picture after the filters, at its size. Everything else about it is unchanged, unless the filters
    /// change it: the pixel format, the field order, the colour space.
    ///
    /// Pictures usually follow one another: the `next` one of a call is the `picture` of the following call. They can
    /// be distinguished by ``SourceFrame/sequence``.
    ///
    /// - Parameters:
    ///   - picture: the picture.
    ///   - previous: the picture before it; nil if none belongs to it, as at the beginning.
    ///   - next: the picture after it; nil if none belongs to it, as at the end.
    func filtered(_ picture: SourceFrame, previous: SourceFrame?, next: SourceFrame?) throws -> SourceFrame
}
