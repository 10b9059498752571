import InletCore
import InletSystem

/// A source of a new version of a plug-in, opened in parallel with the running one, with its first item.
struct SourceSuccessor: Sendable {
    /// The configuration of the source.
    let configuration: PluginSourceConfiguration
    /// The source, for the thread that takes it over.
    let source: Handover<ProcessSource>
    /// The source's description of itself.
    let format: SourceFormat
    /// A picture, or a packet that is a key frame.
    let first: SourceItem
    /// The environment in which it was opened.
    let context: SourceContext

    /// Opens a source and reads its first item. Blocks until then, or until the context is cancelled or too late.
    init(_ configuration: PluginSourceConfiguration, _ context: SourceContext) throws(InletError) {
        let source = ProcessSource(configuration)
        do {
            let format = try source.open(context)
            var item = try source.next(context)
            context.requestKeyFrame()
            while let packet = item?.packet, !packet.isKey { item = try source.next(context) }
            guard let item else { throw InletError(.streamEnded, "It ends before its first picture.") }
            self.configuration = configuration
            self.source = Handover(source)
            (self.format, self.first, self.context) = (format, item, context)
        } catch {
            source.close()
            throw InletError(wrapping: error, operation: "The new version of the plug-in")
        }
    }
}
