import InletCore
import ReferenceTools

/// A source whose calls run in another network.
struct SourceElsewhere: FrameSourceConfiguration {
    var configuration: any FrameSourceConfiguration
    var network: NetworkNamespace
    var redactedURI: String { configuration.redactedURI }
    func makeSource() -> any FrameSource { Source(configuration.makeSource(), network) }

    private final class Source: FrameSource {
        private let source: any FrameSource
        private let network: NetworkNamespace

        init(_ source: any FrameSource, _ network: NetworkNamespace) {
            self.source = source
            self.network = network
        }

        func open(_ context: SourceContext) throws -> SourceFormat { try network.run { try source.open(context) } }
        func next(_ context: SourceContext) throws -> SourceItem? { try network.run { try source.next(context) } }
        func pause(_ context: SourceContext) throws -> Bool { try network.run { try source.pause(context) } }
        func resume(_ context: SourceContext) throws { try network.run { try source.resume(context) } }
        func close() { try? network.run { source.close() } }
    }
}
