import InletCore
import InletOutput
import InletSystem
import Logging

/// A file that keeps a portal's token, so that the user need not be asked again. Each session provides a new one.
struct RestoreFile {
    let path: String

    private static let longest = 4096

    /// Returns the token. If there is no usable token, returns nil and logs the reason; the user is asked then.
    func read(_ context: SourceContext) -> String? {
        do throws(InletError) {
            var bytes = try RegularFile.read(
                path, most: Self.longest, content: "the desktop portal's token",
                advice: "Use a separate file for the token.")
            if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
            guard !bytes.isEmpty, bytes.count < Self.longest, bytes.allSatisfy({ (0x21...0x7e).contains($0) }),
                let token = String(validating: bytes, as: UTF8.self)
            else {
                context.logger.warning("'\(path)' contains no desktop portal token: the user is asked.")
                return nil
            }
            return token
        } catch {
            if error.code != .notFound { context.logger.warning("\(error)") }
            return nil
        }
    }

    /// Stores the token in a file that only its owner can read.
    func write(_ token: String, _ context: SourceContext) {
        guard token.utf8.count < Self.longest else { return }
        do throws(InletError) {
            try StagedFile.write(Array((token + "\n").utf8), to: path, mode: .owner, overwrites: true)
        } catch {
            context.logger.warning("The desktop portal's token was not saved: \(error)")
        }
    }
}
