import Foundation
import ReferenceTools
import Testing

extension PeerTests {
    @Suite(.serialized, .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    struct FaultProxyTests {
        @Test("Without faults, the pictures are those of a direct connection", arguments: ["tcp", "udp"])
        func noFault(transport: String) throws {
            let path = try TestClips.path("h264-nob.mp4")
            let server = try RTSPServer.file(path)
            let proxy = try FaultProxy(to: server.port, carrier: .rtsp)
            // Over UDP, ffmpeg may end at the server's BYE before it has read the last packets.
            let sums = try Client.sums(proxy.url(server.url), ["-rtsp_transport", transport], frames: 25)
            #expect(sums == Array(try Client.sums(path).prefix(25)))
            let packets = try #require(proxy.report()["packets"]?.int)
            #expect(transport == "udp" ? packets > 25 : packets == 0)
        }

        @Test("ffmpeg reports a loss of five percent over UDP")
        func loss() throws {
            let server = try RTSPServer.live()
            let proxy = try FaultProxy(to: server.port, carrier: .rtsp, faults: [.loss(percent: 5)])
            let client = try Client.run(
                "ffmpeg",
                [
                    "-nostdin", "-rtsp_transport", "udp", "-i", proxy.url(server.url), "-frames:v", "90", "-f", "null",
                    "-",
                ])
            #expect(try proxy.report()["loss"]?.int ?? 0 > 0)
            #expect(client.text.contains("RTP: missed"), "\(client.text)")
        }

        @Test("Corruption spares RTSP itself, and the stream continues after a stall")
        func interleaved() throws {
            let path = try TestClips.path("h264-nob.mp4")
            let server = try RTSPServer.file(path)
            let proxy = try FaultProxy(to: server.port, carrier: .rtsp, faults: [.corrupt(percent: 20)])
            let damaged = try Client.sums(proxy.url(server.url), ["-rtsp_transport", "tcp"])
            let whole = try Client.sums(path)
            #expect(try proxy.report()["corrupt"]?.int ?? 0 > 0)
            #expect(damaged != whole)
            try proxy.clear()
            try proxy.add(.stall(afterBytes: 20000, seconds: 0.3))
            #expect(try Client.sums(proxy.url(server.url), ["-rtsp_transport", "tcp"]) == whole)
            #expect(try proxy.report()["stall"]?.int ?? 0 > 0)
        }

        @Test("The same seed loses the same packets, another seed others")
        func seed() throws {
            let lost = try [1, 1, 2].map { try Self.lost(seed: $0) }
            #expect(lost[0] == lost[1])
            #expect(lost[0] != lost[2])
            #expect((5...80).contains(lost[0].split(separator: " ").count), "\(lost[0])")
        }

        /// Returns which of 200 packets are lost in a proxy that drops a fifth.
        private static func lost(seed: Int) throws -> String {
            let receiver = """
                import socket, subprocess, sys, json
                receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                receiver.bind(("127.0.0.1", 0))
                receiver.settimeout(5)
                target = f"127.0.0.1:{receiver.getsockname()[1]}"
                fault = json.dumps({"kind": "loss", "percent": 20, "direction": "up"})
                proxy = subprocess.Popen(
                    [sys.executable, "-B", sys.argv[1], "--protocol", "udp", "--target", target, "--seed", sys.argv[2], "--fault", fault],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                port = json.loads(proxy.stdout.readline())["port"]
                sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                for number in range(200):
                    sender.sendto(bytes([number]), ("127.0.0.1", port))
                def ask(command):
                    proxy.stdin.write(json.dumps({"command": command}).encode() + b"\\n")
                    proxy.stdin.flush()
                    return json.loads(proxy.stdout.readline())
                while ask("report")["packets"] < 200:
                    pass
                ask("clear")
                # The last one, which nothing can hit, comes after all others.
                sender.sendto(b"end", ("127.0.0.1", port))
                found = set()
                while (packet := receiver.recv(10)) != b"end":
                    found.add(packet[0])
                print(*sorted(set(range(200)) - found))
                proxy.stdin.close()
                proxy.wait(5)
                """
            let script = PeerProcess.path("fault-proxy.py")
            let client = try Client.run("/usr/bin/python3", ["-c", receiver, script, "\(seed)"])
            #expect(client.status == 0, "\(client.text)")
            return client.text
        }
    }

    @Suite(.serialized, .enabled(if: NginxServer.missing == nil, "\(NginxServer.missing ?? "")"))
    struct FaultProxyStreamTests {
        @Test(
            "A connection is cut, reset or stalled after exactly the given number of bytes",
            arguments: [
                (.cut(afterBytes: 5000), 18), (.reset(afterBytes: 5000), 56), (.stall(afterBytes: 5000), 28),
            ] as [(FaultProxy.Fault, Int32)])
        func edge(fault: FaultProxy.Fault, status: Int32) throws {
            let server = try NginxServer.http(TestClips.path("h264-b.mp4"))
            let proxy = try FaultProxy(to: server.port, faults: [fault])
            let client = try Client.run("curl", ["-s", "--max-time", "2", "-o", "/dev/null", proxy.url(server.url)])
            #expect(client.status == status)
            #expect(try proxy.report()["bytesDown"] == 5000)
            try proxy.clear()
            #expect(try Client.run("curl", ["-s", "-o", "/dev/null", proxy.url(server.url)]).status == 0)
        }

        @Test("A stall that ends loses nothing, and a delay comes before the first byte")
        func delays() throws {
            let path = try TestClips.path("h264-b.mp4")
            let server = try NginxServer.http(path)
            let proxy = try FaultProxy(to: server.port, faults: [.stall(afterBytes: 5000, seconds: 0.5)])
            #expect(try Client.sums(proxy.url(server.url)) == Client.sums(path))
            #expect(try proxy.report()["stall"]?.int ?? 0 > 0)
            try proxy.clear()
            try proxy.add(.delay(milliseconds: 300))
            let client = try Client.run(
                "curl", ["-s", "-o", "/dev/null", "-w", "%{time_starttransfer}", proxy.url(server.url)])
            #expect(Double(client.text) ?? 0 >= 0.3, "\(client.text)")
        }

        @Test("Corruption changes the received bytes, and a refused connection is reset")
        func corruption() throws {
            let server = try NginxServer.http(TestClips.path("h264-b.mp4"))
            let proxy = try FaultProxy(to: server.port, faults: [.corrupt(percent: 100)])
            let sums = try [server.url, proxy.url(server.url)].map {
                try Client.run("bash", ["-c", "curl -s --http0.9 '\($0)' | md5sum"]).text
            }
            #expect(sums[0] != sums[1])
            try proxy.add(.refuse())
            #expect(try Client.run("curl", ["-s", "-o", "/dev/null", proxy.url(server.url)]).status != 0)
            #expect(try proxy.report()["refuse"] == 1)
        }
    }
}
