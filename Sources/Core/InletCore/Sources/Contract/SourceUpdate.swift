/// The outcome of a new version of a source's code that was found while the source ran.
public enum SourceUpdate: Sendable {
    /// The source continues with that version: a name and a version, such as `bars 1.2.0`.
    case taken(String)
    /// The new version is not used, for the reason in the error. The source continues with the running version, unless
    /// that had to be closed first: then it ends with the error.
    case refused(InletError)
}
