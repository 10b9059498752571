import Foundation
import InletCore
import ReferenceTools
import Testing

@testable import FFmpegSink

/// Streams over SRT, to libsrt's own receiver.
@Suite(.tags(.server), .fewAtATime) struct SRTTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    /// Runs blocking code on a separate thread, because tests run on few.
    private func aside<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    /// The options of both ends; `PORT` is replaced by a free one.
    struct Way: CustomTestStringConvertible {
        var own: String
        var peer: String
        var testDescription: String { own }
    }

    static let ways = [
        Way(own: "srt://127.0.0.1:PORT", peer: "srt://127.0.0.1:PORT?mode=listener"),
        Way(own: "srt://:PORT?mode=listener", peer: "srt://127.0.0.1:PORT?mode=caller&conntimeo=20000"),
        Way(own: "srt://[::1]:PORT", peer: "srt://[::1]:PORT?mode=listener"),
        Way(own: "srt://[::]:PORT?mode=listener", peer: "srt://[::1]:PORT?mode=caller&conntimeo=20000"),
        Way(own: "srt://[::]:PORT?mode=listener", peer: "srt://127.0.0.1:PORT?mode=caller&conntimeo=20000"),
        // The end is delayed for longer than a moment.
        Way(own: "srt://127.0.0.1:PORT?latency=4000000&write-timeout=20s", peer: "srt://127.0.0.1:PORT?mode=listener"),
        Way(
            own: "srt://127.0.0.2:PORT?mode=rendezvous&adapter=127.0.0.1",
            peer: "srt://127.0.0.1:PORT?mode=rendezvous&adapter=127.0.0.2"),
        Way(
            own: "srt://127.0.0.1:PORT?passphrase=open%20sesame%21&pbkeylen=32&latency=300000",
            peer: "srt://127.0.0.1:PORT?mode=listener&passphrase=open sesame!"),
        Way(
            own: "srt://127.0.0.1:PORT?transtype=live&smoother=live&messageapi=1&mss=1400&ffs=8192&sndbuf=8000000"
                + "&rcvbuf=1000000&send_buffer_size=1000000&recv_buffer_size=65536&ipttl=64&iptos=16&inputbw=1000000"
                + "&oheadbw=50&rcvlatency=100000&peerlatency=200000&snddropdelay=-1&tsbpd=1&nakreport=1&lossmaxttl=2"
                + "&minversion=0x010300&enforced_encryption=1&kmrefreshrate=10000&kmpreannounce=1000&linger=1"
                + "&connect_timeout=20000&timeout=20000000&listen_timeout=-1&payload_size=1316"
                + "&query.streamid=%23%21%3A%3Ar%3Dx",
            peer: "srt://127.0.0.1:PORT?mode=listener"),
        Way(own: "srt://127.0.0.1:PORT?transtype=file", peer: "srt://127.0.0.1:PORT?mode=listener&transtype=file"),
        Way(
            own: "srt://:PORT?mode=listener&passphrase=open-sesame&maxbw=0x1000000&pkt_size=1128&tlpktdrop=0",
            peer: "srt://127.0.0.1:PORT?mode=caller&conntimeo=20000&passphrase=open-sesame"),
    ]

    @Test("Every picture arrives as it was sent, encrypted or not, whichever side connects", arguments: ways)
    func pictures(_ way: Way) async throws {
        let port = try FreePort.find()
        let received = folder.path("received.ts")
        let peer = try SRTTransmitter(way.peer.replacing("PORT", with: "\(port)"), to: received)
        let own = way.own.replacing("PORT", with: "\(port)")
        let uri = own + (own.contains("?") ? "&" : "?") + "connect-timeout=30s&bitrate=200k&threads=1"
        let file = folder.path("sent.ts")
        try await aside {
            let input = try Recording.pictures(count: 60)
            try Recording.write(input, to: uri)
            // The same encoder with a file gives the pictures that the receiver should see.
            try Recording.write(input, to: "ts:\(file)?bitrate=200k&threads=1")
            #expect(peer.waitForEnd(), "\(peer.log)")
        }
        let expected = try FrameLines.ffmpeg(file).lines
        #expect(expected.count == 60)
        #expect(try FrameLines.ffmpeg(received).lines == expected)
    }

    /// The error of sending to a peer.
    private func failure(_ uri: String) async throws -> InletError {
        try await aside {
            do {
                try Recording.write(Recording.pictures(count: 1), to: uri)
            } catch let error as InletError {
                return error
            }
            throw InletError(.internal, "It was sent.")
        }
    }

    @Test(
        "A peer with another passphrase, or one too many, refuses with its own error",
        arguments: [
            ("&passphrase=open-sesame", "?passphrase=geheimgeheim"), ("&passphrase=open-sesame", ""),
            ("", "?passphrase=geheimgeheim"),
        ])
    func passphrases(_ theirs: String, _ ours: String) async throws {
        let port = try FreePort.find()
        let peer = try SRTTransmitter("srt://127.0.0.1:\(port)?mode=listener\(theirs)", to: folder.path("none"))
        defer { peer.stop() }
        try await peer.listens(at: port)
        let error = try await failure("srt://127.0.0.1:\(port)\(ours)")
        #expect(error.code == .authenticationFailed, "\(error)")
        #expect(!"\(error)".contains("geheim") && !peer.log.contains("geheim"))
    }

    @Test("A missing server, and a missing client, are time-outs")
    func unreachable() async throws {
        let port = try FreePort.find()
        for address in ["127.0.0.1:\(port)?", ":\(port)?mode=listener&", "[::1]:\(port)?"] {
            let error = try await failure("srt://\(address)connect-timeout=300ms")
            #expect(error.code == .timedOut, "\(error)")
            #expect(error.message.contains("300ms"))
        }
    }

    @Test("A port that another program listens on is refused")
    func takenPort() async throws {
        let port = try FreePort.find()
        let peer = try SRTTransmitter("srt://127.0.0.1:\(port)?mode=listener", to: folder.path("none"))
        defer { peer.stop() }
        try await peer.listens(at: port)
        let error = try await failure("srt://127.0.0.1:\(port)?mode=listener&connect-timeout=300ms")
        #expect(error.code == .busy, "\(error)")
    }

    @Test("A stopped peer is noticed within the requested time-out, and sooner with a shorter one")
    func silentPeers() async throws {
        /// The time after which the sink noticed the stop of its peer, and its error.
        @Sendable func notice(_ limit: String) async throws -> (Duration, InletError) {
            let port = try FreePort.find()
            let peer = try SRTTransmitter("srt://127.0.0.1:\(port)?mode=listener", to: folder.path(limit))
            defer { peer.stop() }
            return try await aside {
                let input = try Recording.pictures(count: 10)
                let uri = "srt://127.0.0.1:\(port)?connect-timeout=30s&write-timeout=\(limit)"
                let sink = try Recording.registry.sink(uri).makeSink()
                try sink.start(Recording.format(input.size), SinkContext())
                var stop: ContinuousClock.Instant?
                for index in 0... {
                    do {
                        try sink.consume(Recording.frame(input.padded(index % 10), index, at: Double(index) / 30))
                    } catch let error as InletError {
                        return (try #require(stop, "\(error)").duration(to: .now), error)
                    }
                    // The peer has pictures, and is stopped after that.
                    if stop == nil, peer.byteCount > 0 {
                        peer.suspend()
                        stop = .now
                    }
                    Thread.sleep(forTimeInterval: 0.02)
                }
                throw InletError(.internal, "It was sent.")
            }
        }
        async let late = notice("3s")
        let early = try await notice("400ms")
        #expect(early.1.code == .timedOut && early.1.message.contains("400ms"), "\(early.1)")
        let other = try await late
        #expect(other.1.code == .timedOut, "\(other.1)")
        #expect(early.0 < other.0)
    }

    @Test("Silence is counted from the data that was sent, by the answers to it")
    func silence() {
        var silence = SRTSilence()
        func note(_ answers: Int64, _ waiting: Int64, _ dropped: Int64, at time: Int) -> Duration {
            silence.note(.init(answers: answers, waiting: waiting, dropped: dropped), at: .seconds(time))
        }
        // Nothing was sent.
        #expect(note(0, 0, 0, at: 0) == .zero)
        #expect(note(0, 0, 0, at: 9) == .zero)
        #expect(note(0, 3, 0, at: 10) == .zero)
        #expect(note(0, 3, 0, at: 12) == .seconds(2))
        #expect(note(1, 3, 0, at: 13) == .zero)
        #expect(note(1, 2, 0, at: 14) == .seconds(1))
        // Data that is dropped as too late is not an answer.
        #expect(note(1, 0, 2, at: 15) == .seconds(2))
        #expect(note(2, 0, 2, at: 16) == .zero)
        #expect(note(2, 0, 2, at: 60) == .zero)
    }

    @Test(
        "Settings that SRT does not support are refused before anything is opened, and their values are not shown",
        arguments: [
            ("srt://host", "needs a port"), ("srt://host:0", "needs a port"), ("srt://host:65536", "needs a port"),
            ("srt://host:９０", "needs a port"), ("srt://:9000", "has no host"),
            ("srt://me:geheim@host:1", "streamid"),
            ("srt://host:1?pasphrase=geheimgeheim", "Did you mean 'passphrase'?"),
            ("srt://host:1?passphrase=geheim", "10 to 79"), ("srt://host:1?query.passphrase=geheim", "10 to 79"),
            ("srt://host:1?pbkeylen=17", "pbkeylen"), ("srt://host:1?mode=server", "'mode'"),
            ("srt://host:1?latency=99999999999999999999", "'latency'"), ("srt://host:1?latency=-2", "'latency'"),
            ("srt://host:1?mss=٥", "'mss'"), ("srt://host:1?pkt_size=1457", "'pkt_size'"),
            ("srt://host:1?maxbw=0x", "'maxbw'"), ("srt://host:1?tlpktdrop=maybe", "'tlpktdrop'"),
            ("srt://host:1?streamid=geheim%00", "streamid"), ("srt://host:1?transtype=live%CC%81", "'transtype'"),
        ])
    func refusals(_ uri: String, _ part: String) throws {
        do {
            _ = try Recording.registry.sink(uri)
            Issue.record("taken: \(uri)")
        } catch let error as InletError {
            #expect(error.code == .invalidConfiguration, "\(error)")
            #expect(error.message.contains(part), "\(error)")
            #expect(!"\(error)".contains("geheim"), "\(error)")
        }
    }

    @Test("Every SRT option of libavformat is supported, by the same name")
    func options() throws {
        let help = try ReferenceCommand.run("ffmpeg", ["-hide_banner", "-h", "protocol=srt"])
        let names = String(decoding: help, as: UTF8.self).split(separator: "\n").compactMap {
            $0.firstMatch(of: /^[ ]{2}-(\w+)[ ]/).map { String($0.output.1) }
        }
        #expect(names.count > 30)
        let own = SRTOption.all.map(\.name) + ["mode", "transtype", "timeout", "listen_timeout"]
        #expect(Set(names).subtracting(own).isEmpty)
    }

    @Test("Only one libsrt is in the process")
    func oneLibrary() throws {
        SRTLogging.install()
        let maps = try ReferenceCommand.run("cat", ["/proc/\(getpid())/maps"])
        let lines = String(decoding: maps, as: UTF8.self).split(separator: "\n")
        let files = Set(lines.compactMap { $0.split(separator: "/").last }.filter { $0.contains("libsrt") })
        // The SRTP library of WebRTC is a different one.
        #expect(files.filter { !$0.contains("srtp") }.count == 1, "\(files)")
    }
}
