import Glibc
import InletCore

/// Finds the processes that hold a device open, as far as `/proc` shows them to this user.
package enum DeviceHolders {
    /// Returns the names of other processes with their IDs, such as `obs (process 4711)`.
    package static func names(of node: String) -> [String] {
        let own = String(getpid())
        var holders: [String] = []
        for process in SystemFiles.names(in: "/proc") where process != own && process.isASCIIDigits {
            let folder = "/proc/\(process)/fd"
            let holds = SystemFiles.names(in: folder).contains { SystemFiles.target(of: "\(folder)/\($0)") == node }
            guard holds else { continue }
            let name = SystemFiles.text(of: "/proc/\(process)/comm") ?? "a program"
            holders.append("\(name) (process \(process))")
        }
        return holders
    }

    /// Returns the same as a sentence.
    static func sentence(_ names: [String]) -> String {
        switch names.count {
        case 0: "/proc does not show the program, which may belong to another user. As root, `fuser -v` shows it."
        case 1: "\(names[0]) holds it. Close that first."
        default: "\(names.joined(separator: " and ")) hold it. Close the one that streams."
        }
    }
}
