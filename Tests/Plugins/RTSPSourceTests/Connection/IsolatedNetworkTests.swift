import Foundation
import InletCore
import InletDecode
import RTSPSource
import ReferenceTools
import Synchronization
import Testing

extension RTSPSourceTests {
    /// Groups and link-local addresses: servers in separate networks.
    @Suite(
        .enabled(
            if: RTSPServer.missing == nil && NetworkNamespace.isAvailable,
            "\(RTSPServer.missing ?? "network namespaces cannot be made here; that needs root and the tool ip")"))
    struct IsolatedNetworkTests {
        private static let linkLocal = "[fe80::77:1%25client]"

        private func server(_ change: (inout RTSPServer.Options) -> Void) throws -> RTSPServer {
            var options = RTSPServer.Options()
            options.isIsolated = true
            options.size = ImageSize(width: 320, height: 240)
            change(&options)
            return try RTSPServer(options)
        }

        @Test("Every picture arrives by multicast as in the file", arguments: ["10.77.0.1", linkLocal])
        func pictures(_ host: String) async throws {
            let clip = try TunnelClip.get()
            let server = try server {
                $0.file = clip.path
                $0.transport = .multicast
            }
            let run = SourceRun(
                .test("rtsp://\(host):\(server.port)/stream") { $0.transport = .multicast }, network: server.clients)
            #expect(try await run.pictures(40) == clip.sums, "\(run.log.text) \(server.process.log)")
            #expect(try await server.teardowns() == 1)
        }

        @Test("A group's sender gets reports, at the group's RTCP port", arguments: ["10.77.0.1", linkLocal])
        func reports(_ host: String) async throws {
            let server = try server { $0.transport = .multicast }
            let run = SourceRun(
                .test("rtsp://\(host):\(server.port)/stream") { $0.transport = .multicast }, decodes: false,
                network: server.clients)
            _ = try await run.open()
            var reporters: PeerMessage = [:]
            // A report is due after 2.5 s, and then every 5 s.
            let end = ContinuousClock.now + .seconds(15)
            while reporters.isEmpty, ContinuousClock.now < end {
                for _ in 0..<10 { #expect(try await run.next()?.packet != nil) }
                if case .object(let members)? = try server.report()["reporters"] { reporters = members }
            }
            #expect(reporters.count == 1, "\(server.process.log)")
            try await run.close()
        }

        @Test(
            "A server with Nagle's algorithm waits for no delayed acknowledgement, also after a receiver report",
            arguments: [(false, 65_535), (true, 65_535), (true, 1500)])
        func acknowledgements(isTLS: Bool, largestPacket: Int) async throws {
            let server = try server {
                $0.transport = .tcp
                $0.isTLS = isTLS
                // The largest size is a loopback interface's: each write is one packet, and Nagle's algorithm waits
                // after the first. With packets of 1500 bytes, a TLS record is split into several.
                $0.largestPacket = largestPacket
                $0.size = ImageSize(width: 640, height: 480)
            }
            let scheme = isTLS ? "rtsps" : "rtsp"
            let run = SourceRun(
                .test("\(scheme)://10.77.0.1:\(server.port)/stream") {
                    $0.transport = .tcp
                    $0.verifiesCertificate = false
                }, decodes: false, network: server.clients)
            _ = try await run.open()
            let before = try Self.delayedAcknowledgements(in: server)
            // The first report is due after 2.5 s, the next after 7.5 s.
            let pictures = 240
            for _ in 0..<pictures { #expect(try await run.next()?.packet != nil) }
            let delayed = try Self.delayedAcknowledgements(in: server) - before
            // A busy machine may run the reader later than the system waits, but not for a tenth of the pictures.
            #expect(delayed < pictures / 10, "\(delayed) of \(pictures)")
            try await run.close()
        }

        /// Returns the number of delayed acknowledgements that were sent in the network of the clients: `TcpExt:
        /// DelayedACKs`.
        private static func delayedAcknowledgements(in server: RTSPServer) throws -> Int {
            let network = try #require(server.clients)
            let text = try network.run { try String(contentsOfFile: "/proc/thread-self/net/netstat", encoding: .utf8) }
            let rows = text.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.first == "TcpExt:" }
            let (names, values) = try (#require(rows.first), #require(rows.last))
            let place = try #require(names.firstIndex(of: "DelayedACKs"))
            return try #require(Int(values[place]))
        }

        @Test(
            "A stream over UDP that loses many packets continues over TCP without loss; udp-only stays",
            arguments: [(.h264, .udp), (.h265, .udp), (.mjpeg, .udp), (.h264, .udpOnly)]
                as [(RTSPServer.Codec, RTSPConfiguration.Transport)])
        func losses(codec: RTSPServer.Codec, transport: RTSPConfiguration.Transport) async throws {
            let server = try server { ($0.codec, $0.keyFrameInterval) = (codec, 60) }
            let network = try #require(server.clients)
            // A loss damages one picture of Motion JPEG, and with other codecs all up to the next key frame.
            let share = codec == .mjpeg ? "10" : "50"
            _ = try network.run {
                try ReferenceCommand.run(
                    "iptables",
                    [
                        "-w", "-A", "INPUT", "-p", "udp", "-m", "statistic", "--mode", "nth", "--every", share,
                        "--packet", "0", "-j", "DROP",
                    ])
            }
            let written = Mutex<[UInt8]>([])
            let run = SourceRun(
                .test("rtsp://10.77.0.1:\(server.port)/stream") {
                    $0.transport = transport
                    $0.capture = CaptureOutput { bytes in
                        written.withLock { $0 += bytes }
                        return nil
                    }
                }, decodes: false, network: network)
            _ = try await run.open()
            func sessions() throws -> Int? { try server.report()["requests"]?["setup"]?.int }
            var taken: [[UInt8]] = []
            func next() async throws -> SourcePacket {
                let packet = try #require(try await run.next()?.packet)
                taken.append(unsafe Array(packet.data.storage.memory))
                return packet
            }
            // The change is due after 1.5 s without complete pictures.
            let end = ContinuousClock.now + .seconds(120)
            if transport == .udpOnly {
                func isLossy() -> Bool {
                    run.reception?.packetsLost ?? 0 > 20 && run.log.text.contains("% of the packets are lost over UDP")
                }
                while !isLossy(), ContinuousClock.now < end { _ = try await next() }
                #expect(isLossy(), "\(run.log.text)")
                #expect(run.reception?.lossRemedy == .useTCP)
                #expect(try sessions() == 1)
            } else {
                while try sessions() == 1, ContinuousClock.now < end { _ = try await next() }
                #expect(try sessions() == 2, "\(run.log.text)")
                // The new session begins between two key frames.
                var isWhole = false
                for _ in 0..<90 where !isWhole { isWhole = try await next().isKey }
                #expect(isWhole)
                let lost = run.reception?.packetsLost
                for _ in 0..<120 { #expect(try await !next().flags.contains(.loss)) }
                let reception = try #require(run.reception)
                #expect(reception.packetsLost == lost && reception.lossRemedy == nil)
            }
            try await run.close()
            // The capture's player leaves UDP where the session did, however it treats damaged pictures. It may have
            // pictures that arrived last and were not taken.
            let folder = try TemporaryFolder()
            try Data(written.withLock { $0 }).write(to: URL(fileURLWithPath: folder.path("lossy.rtspcap")))
            for damage in [DamagePolicy.drop, .mark] {
                var capture = RTSPCaptureConfiguration(path: folder.path("lossy.rtspcap"))
                capture.damage = damage
                let player = SourceRun(capture, decodes: false)
                _ = try await player.open()
                var played: [[UInt8]] = []
                while let packet = try await player.next()?.packet {
                    played.append(unsafe Array(packet.data.storage.memory))
                }
                #expect(played.count >= taken.count)
                if damage == .drop { #expect(Array(played.prefix(taken.count)) == taken) }
                try await player.close()
            }
        }

        @Test("A server that retransmits lost packets on request loses almost nothing at 5 % packet loss")
        func retransmission() async throws {
            let server = try server {
                ($0.keyFrameInterval, $0.takesKeyFrameRequests, $0.retransmissionTime) = (60, true, 500)
                $0.size = ImageSize(width: 640, height: 480)
            }
            let network = try #require(server.clients)
            // Repeated packets get lost, too.
            _ = try network.run {
                try ReferenceCommand.run(
                    "iptables",
                    [
                        "-w", "-A", "INPUT", "-p", "udp", "-m", "statistic", "--mode", "random", "--probability",
                        "0.05", "-j", "DROP",
                    ])
            }
            let run = SourceRun(
                .test("rtsp://10.77.0.1:\(server.port)/stream") { $0.transport = .udpOnly }, decodes: false,
                network: network)
            _ = try await run.open()
            var whole = 0
            while whole < 300, let packet = try await run.next()?.packet {
                if !packet.flags.contains(.loss) { whole += 1 }
            }
            let reception = try #require(run.reception)
            let all = reception.packets + reception.packetsLost
            #expect(reception.packetsRecovered > all / 50, "\(reception)")
            #expect(reception.packetsLost <= all / 200, "\(reception)")
            #expect(reception.lossRemedy == nil)
            try await run.close()
        }

        @Test("A link-local address is reached through the interface that the address names")
        func zone() async throws {
            let server = try server { _ in }
            let run = SourceRun(
                .test("rtsp://\(Self.linkLocal):\(server.port)/stream"), decodes: false, network: server.clients)
            _ = try await run.open()
            #expect(try await run.next()?.packet?.isKey == true)
            try await run.close()
            let other = SourceRun(
                .test("rtsp://[fe80::77:1%25lo]:\(server.port)/stream"), decodes: false, network: server.clients)
            #expect(try await other.failure() != nil)
        }

        @Test(
            "A redirection between link-local addresses keeps to the interface, and datagrams arrive through it",
            arguments: [RTSPConfiguration.Transport.tcp, .udp])
        func datagrams(_ transport: RTSPConfiguration.Transport) async throws {
            var options = try ScriptClip.of(.slices).options
            options.isIsolated = true
            options.transport = transport == .udp ? .udp : .tcp
            options.redirect = "moved"
            let clip = try ScriptClip.of(.slices)
            let server = try RTSPScript(options)
            let run = SourceRun(
                .test("rtsp://\(Self.linkLocal):\(server.port)/stream") { $0.transport = transport },
                network: server.clients)
            #expect(try await run.pictures(clip.sums.count) == clip.sums, "\(run.log.text)")
            // The name of an interface has a meaning only on its own machine.
            #expect(server.requests.allSatisfy { !$0.url.contains("%") && $0.url.contains("[fe80::77:1]") })
        }
    }
}
