import CInletPlugin
package import InletCore
import InletPluginIPC
import InletSystem
import Logging

extension PluginProgram {
    /// Loads the plug-in in a separate process, and asks for its interfaces.
    ///
    /// Blocks the calling thread.
    ///
    /// - Parameter limit: how long the probe may take.
    /// - Returns: the ids of its interfaces, such as `inlet.source/1`; at most 16.
    /// - Throws: ``InletError/Code/pluginRejected`` if it cannot be loaded or breaks the contract,
    ///   ``InletError/Code/timedOut``, or the error for the end of its process.
    package func probe(within limit: Duration) throws(InletError) -> Set<String> {
        let silent = Logger(label: "inlet.plugin") { _ in SwiftLogNoOpLogHandler() }
        let connection = try PluginConnection(to: self, probes: true, logger: silent)
        defer { connection.close() }
        let result = try connection.receiveResult(within: CallLimit(until: .now + limit), to: "load") {
            note throws(PluginLie) in
            if note != .progress { throw PluginLie("sent a note while it was loaded") }
        }
        guard result.result == INLET_OK else { throw connection.failure(result, to: "load", isCancelled: false) }
        do throws(PluginLie) {
            let words = FixedText.bytes(result.message).split(separator: UInt8(ascii: " "))
            guard words.count <= 16 else { throw PluginLie("states more than 16 interfaces") }
            var ids: Set<String> = []
            for word in words {
                guard word.allSatisfy({ (0x21...0x7E).contains($0) }), let id = String(validating: word, as: UTF8.self)
                else { throw PluginLie("states an interface whose id is not ASCII") }
                ids.insert(id)
            }
            return ids
        } catch {
            throw connection.rejection(error)
        }
    }
}
