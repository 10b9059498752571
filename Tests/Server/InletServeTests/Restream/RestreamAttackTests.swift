#if GStreamer
import Foundation
import InletCore
import ReferenceTools
import Testing

/// The daemon's RTSP server against clients that guess passwords, or connect in crowds.
@Suite(.tags(.daemon, .server), .serialized, .fewDaemons, .takes(atMostMinutes: 4)) struct RestreamAttackTests {
    private static func camera() throws -> RTSPServer {
        var options = RTSPServer.Options()
        (options.size, options.frameRate, options.keyFrameInterval) = (
            ImageSize(width: 320, height: 240), Rational(20), 20
        )
        return try RTSPServer(options)
    }

    /// A Python client that sends RTSP requests, logs in by Digest, and sends HTTP requests to the daemon.
    private static let client = """
        import hashlib, http.client, re, socket, subprocess, sys
        host, port = "127.0.0.1", int(sys.argv[1])
        url = f"rtsp://{host}:{port}/door"
        def md5(text): return hashlib.md5(text.encode()).hexdigest()
        def header(user, password, nonce, realm="Inlet"):
            response = md5(f"{md5(f'{user}:{realm}:{password}')}:{nonce}:{md5(f'DESCRIBE:{url}')}")
            return (f'Authorization: Digest username="{user}", realm="{realm}", nonce="{nonce}", uri="{url}", '
                f'response="{response}"\\r\\n')
        def ask(client, extra=""):
            client.sendall(f"DESCRIBE {url} RTSP/1.0\\r\\nCSeq: 1\\r\\n{extra}\\r\\n".encode())
            return client.recv(65536).decode("latin-1")
        def status(user, password, nonce=None, source="127.0.0.1", times=1):
            client = socket.create_connection((host, port), 30, source_address=(source, 0))
            answer = ask(client)
            nonce = nonce or re.search('nonce="([^"]*)"', answer).group(1)
            answer = ask(client, header(user, password, nonce) * times)
            client.close()
            return int(answer.split(" ")[1]), "Retry-After" in answer

        """

    private static let short = "short-pass"

    /// The daemon with one guessable and one strong token.
    private static func guessable(_ camera: String, more: String = "") async throws -> (ServeProcess, Int) {
        let port = try FreePort.find()
        let serve = try await ServeProcess(
            """
              tokens:
                boss: {scope: admin, env: INLET_ADMIN}
                wall: {scope: view, env: INLET_VIEWER}
                short: {scope: view, env: INLET_SHORT}
              restream: 127.0.0.1:\(port)
            \(more)cameras:
              door: "\(camera)"

            """, tokens: false, environment: ["INLET_SHORT": short])
        _ = try await serve.camera("door") { $0.captured > 1 }
        return (serve, port)
    }

    @Test("Password guesses by RTSP share HTTP's limits, and long passwords are never locked out")
    func guesses() async throws {
        let camera = try Self.camera()
        let (serve, port) = try await Self.guessable(camera.url)
        let script =
            Self.client + """
                def web(token, source):
                    c = http.client.HTTPConnection(host, int(sys.argv[2]), timeout=30, source_address=(source, 0))
                    c.request("GET", "/v1/cameras", headers={"authorization": "Bearer " + token})
                    answer = c.getresponse(); answer.read(); c.close()
                    return answer.status
                short, wall = sys.argv[3:5]
                # The right password for a challenge of another connection is no guess.
                print({status("short", short, nonce="0123456789abcdef") for _ in range(20)})
                print(status("short", short), status("short", "wrong", times=2))
                users = ["short", "wall", "none"] * 3 + ["short"]
                print({status(user, f"wrong-{n}") for n, user in enumerate(users)})
                print(status("short", short), status("short", "wrong"))
                print(status("short", short, nonce="0123456789abcdef"))
                print(status("wall", wall), web(short, "127.0.0.1"), web(wall, "127.0.0.1"))
                print(status("short", short, source="127.0.0.2"), web(short, "127.0.0.2"))
                # The other way round.
                print({web(f"wrong-token-{n}", "127.0.0.3") for n in range(10)})
                print(status("short", short, source="127.0.0.3"))
                """
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3",
            ["-c", script, "\(port)", "\(serve.port)", Self.short, ServeProcess.viewer])
        #expect(
            String(decoding: output, as: UTF8.self) == """
                {(401, False)}
                (200, False) (400, False)
                {(401, False)}
                (503, True) (503, True)
                (503, True)
                (200, False) 429 200
                (200, False) 200
                {401}
                (503, True)

                """)
        #expect(serve.complaints.contains("Incorrect RTSP password from 127.0.0.1"))
        #expect(!serve.complaints.contains(Self.short))
        #expect(await serve.end() == 0)
    }

    @Test("Connections that do not log in lock no reader out, whatever their addresses")
    func crowd() async throws {
        let camera = try Self.camera()
        let (serve, port) = try await Self.guessable(camera.url, more: "  streams: 2\n")
        // Eighteen connections are kept. Each address of 127.0.0.0/8 is a separate client.
        let script =
            Self.client + """
                def idle(n):
                    source = (f"127.1.{n // 200}.{n % 200 + 1}", 0)
                    return socket.create_connection((host, port), 30, source_address=source)
                crowd = [idle(n) for n in range(400)]
                words = "ffmpeg -nostdin -v error -rtsp_transport tcp -i URL -c copy -frames:v 20 -f null -"
                words = words.replace("URL", sys.argv[2]).split()
                reader = subprocess.run(words, capture_output=True, timeout=120)
                print(reader.returncode, reader.stderr.decode())
                """
        let output = try await ReferenceCommand.runAside(
            "/usr/bin/python3",
            ["-c", script, "\(port)", "rtsp://wall:\(ServeProcess.viewer)@127.0.0.1:\(port)/door"])
        #expect(String(decoding: output, as: UTF8.self) == "0 \n")
        #expect(await serve.end() == 0)
    }
}
#endif
