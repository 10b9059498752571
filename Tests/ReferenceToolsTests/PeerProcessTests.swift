import Foundation
import ReferenceTools
import Testing

extension PeerTests {
    @Suite(.serialized) struct PeerProcessTests {
        private static let script = PeerProcess.path("hostile-server.py")

        @Test("A server ends when its standard input ends")
        func inputEnds() throws {
            let client = try Client.run("/usr/bin/python3", ["-B", Self.script])
            #expect(client.status == 0, "\(client.text)")
            #expect(client.text.contains("\"port\""))
        }

        @Test("A server ends when its parent is killed, even if its standard input stays open")
        func parentDies() throws {
            let folder = try TemporaryFolder()
            // The outer shell holds the FIFO open. It cannot use `wait`, because the server is not its child.
            let client = try Client.run(
                "bash",
                [
                    "-c",
                    """
                    mkfifo "$1"; exec 9<>"$1"
                    bash -c '/usr/bin/python3 -B "$0" < "$1" >> "$2" 2>&1 & echo $! >> "$2"; wait' "$2" "$1" "$3" &
                    parent=$!
                    until grep -q port "$3" 2>/dev/null; do :; done
                    server=$(grep -x '[0-9]*' "$3")
                    kill -9 $parent
                    tail --pid="$server" -f /dev/null
                    """, "bash", folder.path("fifo"), Self.script, folder.path("output"),
                ])
            #expect(client.status == 0, "\(client.text)")
        }

        @Test("A stopped server refuses connections, and a refused command reports the reason")
        func stop() throws {
            let server = try HostileServer(.notFound)
            #expect(throws: PeerProcess.Failure.self) { try server.process.send("dance") }
            #expect(try Client.run("curl", ["-s", "-o", "/dev/null", server.url("http")]).status == 0)
            server.stop()
            #expect(!server.process.isRunning)
            #expect(try Client.run("curl", ["-s", server.url("http")]).status == 7)
        }

        @Test("A command to a server that has ended throws")
        func quit() throws {
            let server = try HostileServer(.close)
            try server.process.send("quit")
            for _ in 0..<2 {
                #expect(throws: PeerProcess.Failure.self) { try server.process.send("report") }
            }
        }

        @Test("A server that cannot start reports the reason")
        func failure() throws {
            #expect {
                try PeerProcess("rtsp-server.py", ["--file", "/nonexistent.mp4"])
            } throws: {
                "\($0)".contains("nonexistent")
            }
        }
    }
}
