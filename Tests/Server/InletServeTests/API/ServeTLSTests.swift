import Foundation
import ReferenceTools
import Testing

/// The daemon over TLS, tested with curl and openssl, which also makes the certificates.
@Suite(.tags(.daemon), .serialized, .fewDaemons, .takes(atMostMinutes: 2)) struct ServeTLSTests {
    private static let pattern = "pattern:timecode?size=320x180&fps=20"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs a Bash script in the folder of certificates.
    private func bash(_ script: String) async throws -> String {
        let output = try await ReferenceCommand.runAside("bash", ["-c", "cd '\(folder.path(""))' && \(script)"])
        return String(decoding: output, as: UTF8.self)
    }

    /// Makes a self-signed certificate, `NAME.pem`, and its key, `NAME.key`.
    private func makePair(_ name: String) async throws {
        _ = try await bash(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 \\
                -addext subjectAltName=IP:127.0.0.1 -keyout \(name).key -out \(name).pem 2> /dev/null
            """)
    }

    private func start(_ camera: String = "source: \"\(pattern)\"") async throws -> ServeProcess {
        for name in ["first", "second"] { try await makePair(name) }
        _ = try await bash("cp first.pem server.pem && cp -p first.key server.key && cat first.pem second.pem > ca.pem")
        return try await ServeProcess(
            "  tls: {certificate: '\(folder.path("server.pem"))', key: '\(folder.path("server.key"))'}\ncameras:\n"
                + "  door: {\(camera)}\n", authority: folder.path("ca.pem"))
    }

    /// Waits until the daemon has logged a text, for 30 seconds at most.
    private func wait(for text: String, from serve: ServeProcess) async throws {
        _ = try await serve.camera("door") { _ in serve.complaints.contains(text) }
    }

    @Test("curl and openssl trust the server, TLS before 1.2 and plain HTTP are refused, and cookies are for TLS only")
    func answers() async throws {
        let serve = try await start()
        let door = try await serve.ask("GET", "/v1/cameras/door/snapshot.jpg")
        #expect(door.status == 200 && door.body.starts(with: [0xff, 0xd8]))
        let page = try await serve.ask("GET", "/", headers: ["accept-encoding: identity"])
        #expect(page.body.count > 5000 && String(decoding: page.body.suffix(20), as: UTF8.self).contains("</html>"))
        #expect(serve.complaints.contains("The page is at https://127.0.0.1:\(serve.port)/"))
        let seen = try await bash(
            """
            curl -s --cacert ca.pem -o /dev/null -D - '\(serve.address)/?token=\(ServeProcess.viewer)' \\
                | grep -ci '^set-cookie: inlet-session-.*; Secure'
            for version in tls1 tls1_1 tls1_2 tls1_3; do
                openssl s_client -$version -cipher ALL:@SECLEVEL=0 -CAfile ca.pem -verify_return_error \\
                    -connect 127.0.0.1:\(serve.port) < /dev/null > /dev/null 2>&1 && echo $version
            done
            curl -s -m 20 http://127.0.0.1:\(serve.port)/healthz || echo no plain
            head -c 20000 /dev/urandom > /dev/tcp/127.0.0.1/\(serve.port) || true
            """)
        #expect(seen == "1\ntls1_2\ntls1_3\nno plain\n")
        #expect(try await serve.ask("GET", "/v1/cameras").status == 200)
        let health = "'\(BuiltProgram.inlet)' health --ready \(serve.address) 2>&1 | head -n 1; echo ${PIPESTATUS[0]}"
        #expect(try await bash(health) == "0\n")
        #expect(await serve.end() == 0)
        let refused = "The server cannot be reached. Check its address and port, and that it runs."
        #expect(try await bash(health) == "error: \(serve.address): \(refused)\n75\n")
    }

    @Test(
        "A renewed certificate is for new connections, while a stream continues; a wrong pair is reported and ignored"
    )
    func renewal() async throws {
        let serve = try await start()
        let shown =
            "openssl s_client -connect 127.0.0.1:\(serve.port) </dev/null 2>&1 | openssl x509 -noout -fingerprint"
        let prints = try await bash("for name in first second; do openssl x509 -noout -fingerprint -in $name.pem; done")
            .split(separator: "\n").map { "\($0)\n" }
        #expect(try await bash(shown) == prints[0])
        // The file is replaced while a stream is open, and the certificate before the key, as some programs do.
        let read = try await bash(
            """
            exec 3< <(curl -sN --cacert first.pem -H 'authorization: Bearer \(ServeProcess.viewer)' \\
                \(serve.address)/v1/cameras/door/stream.mjpeg)
            head -c 20000 <&3 | wc -c
            cp second.pem new.pem && mv new.pem server.pem && cp -p second.key new.key && mv new.key server.key
            for i in {1..600}; do [ "$(\(shown))" = '\(prints[1].dropLast())' ] && break; sleep 0.05; done
            head -c 200000 <&3 | wc -c
            """)
        #expect(read == "20000\n200000\n")
        #expect(try await bash(shown) == prints[1])
        _ = try await bash("cp -p first.key new.key && mv new.key server.key")
        try await wait(for: "The previous certificate stays in use", from: serve)
        #expect(serve.complaints.contains("The key does not match the certificate"))
        _ = try await bash("cp second.key new.key && chmod 644 new.key && mv new.key server.key")
        kill(serve.process.processIdentifier, SIGHUP)
        try await wait(for: "Other users may read or change", from: serve)
        #expect(try await bash(shown) == prints[1])
        let check = try await bash(
            """
            export INLET_ADMIN=\(ServeProcess.admin) INLET_VIEWER=\(ServeProcess.viewer)
            '\(BuiltProgram.inlet)' config check '\(serve.configuration)' 2>&1; echo $?
            """)
        #expect(check.contains("Other users may read or change"))
        #expect(check.hasSuffix("65\n"))
        // The key is read again when only its mode has changed, after it was refused as a wrong pair, on SIGHUP, and
        // when the daemon saw the new file.
        func count(_ text: String) -> Int { serve.complaints.components(separatedBy: text).count - 1 }
        _ = try await serve.camera("door") { _ in count("The previous certificate stays in use") == 3 }
        let before = count("The certificate was read again")
        _ = try await bash("chmod 600 server.key")
        _ = try await serve.camera("door") { _ in count("The certificate was read again") > before }
        #expect(await serve.end() == 0)
        #expect(!serve.complaints.contains("PRIVATE"))
    }

    @Test("A large response to many clients that do not read it takes little memory, and one that reads slowly gets it")
    func slowClients() async throws {
        let serve = try await start(
            "view: {max-size: 3840x2160, max-fps: 1, quality: 100}, source: \"pattern:noise?size=3840x2160&fps=1\"")
        let picture = "\(serve.address)/v1/cameras/door/snapshot.jpg"
        let curl = "curl -s -m 60 --cacert ca.pem -H 'authorization: Bearer \(ServeProcess.viewer)'"
        let size = try #require(
            Int(try await bash("\(curl) -o first.jpg \(picture) && stat -c %s first.jpg | tr -d '\\n'")))
        let clients = 64
        let script = """
            import socket, ssl, sys
            port, clients, token = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
            context = ssl.create_default_context(cafile="ca.pem")
            def connect():
                plain = socket.socket()
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
                plain.connect(("127.0.0.1", port))
                return context.wrap_socket(plain, server_hostname="127.0.0.1")
            head = "GET /v1/cameras/door/snapshot.jpg HTTP/1.1\\r\\nhost: localhost\\r\\nauthorization: Bearer "
            sockets = []
            for _ in range(clients):
                sockets.append(connect())
                sockets[-1].sendall((head + token + "\\r\\n\\r\\n").encode())
            print(*{s.recv(12) for s in sockets})
            """
        try Data(script.utf8).write(to: URL(fileURLWithPath: folder.path("clients.py")))
        func peak() throws -> Int {
            let path = "/proc/\(serve.process.processIdentifier)/status"
            let line = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
                .first { $0.hasPrefix("VmHWM:") }
            return try #require(line.flatMap { Int($0.split(separator: " ")[1]) }) * 1024
        }
        let before = try peak()
        let seen = try await bash("/usr/bin/python3 clients.py \(serve.port) \(clients) \(ServeProcess.viewer)")
        #expect(seen == "b'HTTP/1.1 200'\n")
        let growth = try peak() - before
        #expect(size * clients > 300_000_000)
        #expect(growth < 100_000_000, "\(growth) bytes for \(clients) clients of \(size) bytes")
        let end = try await bash(
            "\(curl) --limit-rate 3M -o slow.jpg \(picture) && tail -c 2 slow.jpg | od -An -tx1 | tr -d ' \\n'")
        #expect(end == "ffd9")
        #expect(await serve.end() == 0)
    }
}
