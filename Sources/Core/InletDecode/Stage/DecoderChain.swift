import InletCore

/// The decoder of a stream, and those that replace it, one after another, if one fails.
struct DecoderChain {
    /// A decoder that is open.
    private(set) var decoder: any VideoDecoder
    private(set) var name: String
    private var next: ArraySlice<DecoderPlugin>
    private let settings: DecoderSettings

    /// A decoder that failed.
    struct Failure {
        var name: String
        var error: InletError
    }

    /// Opens the first decoder that can be opened.
    ///
    /// - Parameters:
    ///   - plugins: the decoders to choose from, in any order.
    ///   - wanted: the name of the decoder that is tried first; nil means the one with the greatest preference.
    /// - Returns: the chain, and the decoders that could not be opened before.
    /// - Throws: ``InletError/Code/unsupported`` if no decoder supports the codec; otherwise the error of the last
    ///   decoder.
    static func open(
        _ parameters: CodecParameters, _ settings: DecoderSettings, from plugins: [DecoderPlugin], wanted: String?
    ) throws(InletError) -> (chain: DecoderChain, failures: [Failure]) {
        let able = plugins.filter { $0.decodes(parameters.codec) }
        let sorted = able.enumerated().sorted { one, other in
            let isWanted = (one.element.name == wanted, other.element.name == wanted)
            if isWanted.0 != isWanted.1 { return isWanted.0 }
            if one.element.preference != other.element.preference {
                return one.element.preference > other.element.preference
            }
            return one.offset < other.offset
        }.map(\.element)
        guard !sorted.isEmpty else {
            throw InletError(
                .unsupported,
                "No decoder that is registered decodes \(parameters.codec). 'inlet plugins' lists those that are.")
        }
        var failures: [Failure] = []
        let (decoder, name, rest) = try first(of: sorted[...], parameters, settings, &failures)
        return (DecoderChain(decoder: decoder, name: name, next: rest, settings: settings), failures)
    }

    /// Replaces a decoder that failed by the next one that can be opened.
    ///
    /// - Returns: the decoders before it that could not be opened.
    /// - Throws: the error of the last decoder, or `error` if no decoder is left.
    mutating func replace(after error: InletError, _ parameters: CodecParameters) throws(InletError) -> [Failure] {
        guard !next.isEmpty else { throw error }
        var failures: [Failure] = []
        let skips = decoder.skipsNonReferencePictures
        (decoder, name, next) = try Self.first(of: next, parameters, settings, &failures)
        decoder.skipsNonReferencePictures = skips
        return failures
    }

    private static func first(
        of plugins: ArraySlice<DecoderPlugin>, _ parameters: CodecParameters, _ settings: DecoderSettings,
        _ failures: inout [Failure]
    ) throws(InletError) -> (any VideoDecoder, String, ArraySlice<DecoderPlugin>) {
        var last: InletError?
        for (index, plugin) in zip(plugins.indices, plugins) {
            do {
                let decoder = try plugin.makeDecoder()
                try decoder.open(parameters, settings)
                return (decoder, plugin.name, plugins[(index + 1)...])
            } catch {
                let error = InletError(wrapping: error, operation: "The decoder \(plugin.name)")
                failures.append(Failure(name: plugin.name, error: error))
                last = error
            }
        }
        throw last ?? InletError(.unsupported, "No decoder is left.")
    }
}
