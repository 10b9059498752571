import Foundation
import ReferenceTools
import Testing

/// Whether this process may create network namespaces.
private let namespacesExist = (try? ReferenceCommand.run("unshare", ["-n", "ip", "link"])) != nil

extension NetworkTests {
    /// Servers that redirect to addresses outside their own network, in a network namespace.
    @Suite(.enabled(if: namespacesExist, "network namespaces cannot be made here; that needs root and the tool ip"))
    struct NetworkAddressTests {
        private struct Seen: Decodable {
            /// Requests, by the address that received them.
            var came: [String: Int]
            var status: Int
            var said: String
        }

        /// - Parameter retries: the value of `--retry`. A refused address must not be tried again; a permitted server,
        ///   which has no stream here, would be.
        private func seen(_ cases: [String], retries: Int) throws -> [Seen] {
            let script = PeerProcess.path("lead-astray.py")
            let output = try ReferenceCommand.run(
                "/usr/bin/python3", ["-B", script, "--inlet", InletProcess.path, "--retry", "\(retries)"] + cases)
            return try JSONDecoder().decode([Seen].self, from: output)
        }

        @Test("An RTSP server cannot redirect to a more private network, and is not tried again")
        func rtsp() throws {
            let refused = [
                "rtsp,redirect,9.9.9.1,10.9.9.1", "rtsp,redirect,9.9.9.1,100.64.9.1",
                "rtsp,redirect,9.9.9.1,169.254.169.254", "rtsp,redirect,9.9.9.1,127.0.0.1",
                "rtsp,redirect,9.9.9.1,0.0.0.0", "rtsp,redirect,9.9.9.1,[::ffff:127.0.0.1]",
                "rtsp,redirect,9.9.9.1,2130706433", "rtsp,redirect,10.9.9.1,169.254.169.254",
                "rtsp,redirect,10.9.9.1,localhost", "rtsp,redirect,10.9.9.1,10.9.9.2,private-addresses=deny",
            ]
            for (each, seen) in zip(refused, try seen(refused, retries: 3)) {
                #expect(seen.came.isEmpty, "\(each): \(seen.came)")
                #expect(seen.said.contains("private-addresses"), "\(each): \(seen.said)")
                #expect(seen.status == 77, "\(each)")
            }
        }

        @Test("Other redirects work, and a name that changes its address redirects nowhere else")
        func led() throws {
            let cases = [
                ("rtsp,redirect,9.9.9.1,9.9.9.2", "9.9.9.2"), ("rtsp,redirect,10.9.9.1,9.9.9.2", "9.9.9.2"),
                ("rtsp,redirect,10.9.9.1,10.9.9.2", "10.9.9.2"), ("rtsp,redirect,127.0.0.1,10.9.9.2", "10.9.9.2"),
                ("rtsp,redirect,9.9.9.1,127.0.0.1,private-addresses=allow", "127.0.0.1"),
                ("rtsp,redirect,10.9.9.1,9.9.9.1,private-addresses=deny", "9.9.9.1"),
                ("rtsp,redirect,9.9.9.1,rebind.test", "9.9.9.2"), ("rtsp,redirect,9.9.9.1,rebind.test", ""),
                // Each name has two addresses. At the first, nothing listens or nothing answers.
                ("rtsp,redirect,9.9.9.1,pair.test", "9.9.9.2"), ("rtsp,redirect,9.9.9.1,mute.test", "9.9.9.2"),
            ]
            for (each, seen) in zip(cases, try seen(cases.map(\.0), retries: 0)) {
                #expect(Set(seen.came.keys) == (each.1.isEmpty ? [] : [each.1]), "\(each): \(seen.said)")
            }
        }

        @Test("Neither an HTTP redirect nor a playlist leads to a more private network than its server's")
        func http() throws {
            let targets = [
                "10.9.9.1", "100.64.9.1", "169.254.169.254", "127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]", "2130706433",
                "0x7f000001", "localhost", "[::1]",
            ]
            var refused: [String] = []
            for how in ["redirect", "playlist"] {
                refused += targets.map { "http,\(how),9.9.9.1,\($0)" }
                refused += [
                    "http,\(how),10.9.9.1,169.254.169.254", "http,\(how),10.9.9.1,localhost",
                    "http,\(how),10.9.9.1,10.9.9.2,private-addresses=deny",
                ]
            }
            for (each, seen) in zip(refused, try seen(refused, retries: 3)) {
                #expect(seen.came.isEmpty, "\(each): \(seen.came)")
                #expect(seen.said.contains("private-addresses"), "\(each): \(seen.said)")
                #expect(seen.status == 77, "\(each)")
            }
        }

        @Test("Other HTTP redirects work, and a name that changes its address redirects nowhere else")
        func ledByHTTP() throws {
            var cases: [(String, String)] = []
            for how in ["redirect", "playlist"] {
                cases += [
                    ("http,\(how),9.9.9.1,9.9.9.2", "9.9.9.2"), ("http,\(how),10.9.9.1,9.9.9.2", "9.9.9.2"),
                    ("http,\(how),10.9.9.1,10.9.9.2", "10.9.9.2"), ("http,\(how),127.0.0.1,10.9.9.2", "10.9.9.2"),
                    ("http,\(how),9.9.9.1,127.0.0.1,private-addresses=allow", "127.0.0.1"),
                    ("http,\(how),10.9.9.1,9.9.9.1,private-addresses=deny", "9.9.9.1"),
                    // The name service alternates between two addresses: the first is permitted, the second refused.
                    ("http,\(how),9.9.9.1,rebind.test", "9.9.9.2"), ("http,\(how),9.9.9.1,rebind.test", ""),
                ]
            }
            for (each, seen) in zip(cases, try seen(cases.map(\.0), retries: 0)) {
                #expect(Set(seen.came.keys) == (each.1.isEmpty ? [] : [each.1]), "\(each): \(seen.said)")
            }
        }
    }
}
