import CInletPlugin
import InletCore

// Unsafe: reads C strings of the host.
/// The host's request for a source or sink, as a URI that its own plug-in reads.
struct SourceAddress {
    /// The URI, with every secret in it.
    let uri: String

    private static let mostOptions = 1024

    /// - Throws: ``InletError/Code/invalidConfiguration`` if the configuration is not text.
    init(_ configuration: inlet_configuration, isSink: Bool = false) throws(InletError) {
        let scheme = unsafe try Self.text(configuration.scheme, "scheme")
        let address = unsafe try Self.text(configuration.address, "address")
        // A server's address is passed on unchanged.
        var uri = scheme + ":" + (address.containsBytes("//") ? address : PercentEncoding.encode(address))
        var mark = "?"
        let declared = PluginLibrary.shared.options(of: scheme, isSink: isSink)
        let count = unsafe configuration.options == nil ? 0 : Int(configuration.option_count)
        guard count <= Self.mostOptions else {
            throw InletError(.invalidConfiguration, "There are \(count) options; at most 1024 are possible.")
        }
        for index in 0..<count {
            guard let option = unsafe configuration.options?[index] else { continue }
            let name = unsafe try Self.text(option.name, "name of an option")
            let value = unsafe try Self.text(option.value, "option \(name)")
            // An empty value is the default of an option without one in the manifest.
            let isUnset = value.isEmpty && declared.contains { $0.name == name && $0.defaultValue.isEmpty }
            guard !isUnset else { continue }
            uri += mark + PercentEncoding.encode(name) + "=" + PercentEncoding.encode(value)
            mark = "&"
        }
        self.uri = uri
    }

    private static func text(_ pointer: UnsafePointer<CChar>?, _ what: String) throws(InletError) -> String {
        guard let pointer = unsafe pointer else { return "" }
        guard let text = unsafe String(validatingCString: pointer) else {
            throw InletError(.invalidConfiguration, "The \(what) is not UTF-8 text.")
        }
        return text
    }
}
