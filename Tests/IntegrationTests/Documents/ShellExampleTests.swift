import Foundation
import ReferenceTools
import Testing

/// Runs the documents' shell examples unchanged, in their own namespaces. There, the hosts that they name are this
/// machine, and the secrets that they read exist. The namespaces need root, or a system that lets users create them.
@Suite(.tags(.server), .fewAtATime) struct ShellExampleTests {
    @Test("Each reason for an example not to run to its end applies to at least one example")
    func reasons() throws {
        let examples = try ShellExample.all()
        #expect(examples.count > 40)
        for limit in ShellExample.limits where limit.isOfThisBuild {
            #expect(examples.contains { $0.limit?.part == limit.part }, "no example has \(limit.part)")
        }
    }

    /// The setup that comes before the command.
    private static let preparation = """
        set -e
        ip link set lo up
        mount -t tmpfs none /run
        mkdir /run/secrets
        for name in camera stream token preview turn; do echo a-secret-of-tests > /run/secrets/$name; done
        echo 127.0.0.1 localhost camera server host media.example > hosts
        mount --bind hosts /etc/hosts
        mkfifo camera.fifo commands
        printf '{"rateControl": "loss", "initialBitrate": 500000}' > rtc.json
        printf '#!/bin/sh\\ncat > /dev/null\\n' > publish
        chmod +x publish
        openssl req -x509 -newkey ed25519 -nodes -subj /CN=tests -keyout /dev/null -out own.pem 2> /dev/null

        """

    /// Installs the guide's plug-in, in the folder and for the user.
    private static let plugin = """
        chmod 755 .
        cc -std=c11 -fPIC -shared -I '\(FencedBlock.root.path)/Sources/C/CInletPlugin/include' -o bars.so \
            '\(FencedBlock.root.path)/Samples/CSource/bars.c'
        install -m 644 '\(FencedBlock.root.path)/Samples/CSource/bars.inlet.json' .
        export HOME=$PWD/home
        install -d home/.local/lib/inlet
        install -m 644 bars.so bars.inlet.json home/.local/lib/inlet

        """

    @Test(
        "Each shell example is accepted by the command and succeeds where it can",
        arguments: try ShellExample.all())
    func runs(_ example: ShellExample) throws {
        let folder = try TemporaryFolder()
        try ReferenceCommand.ffmpeg(Documents.clip(folder.path("clip.mp4"), frames: 40))
        let (end, reason) = (example.limit?.end ?? .success, example.limit?.reason ?? "it can run here")
        var script = Self.preparation
        if example.command.contains("rtsp://") {
            let server = FencedBlock.root.appending(path: "Tests/Peers/rtsp-server.py").path
            let arguments = "--port 554 --size 320x240 --path \(example.streamPath)"
            script += "/usr/bin/python3 -B '\(server)' \(arguments) > server.log 2>&1 < commands &\n"
            // Ends when the other end is closed, together with the command that inherits this descriptor.
            script += "exec 9> commands\n"
            script += "until [ -s server.log ]; do sleep 0.05; done\n"
        }
        if example.command.contains("bars") { script += Self.plugin }
        // The shell is replaced by the command, which then receives the signals.
        script += "exec bash -c \"$(cat command)\"\n"
        try script.write(toFile: folder.path("script"), atomically: true, encoding: .utf8)
        // A probe exits without a signal.
        let isEndless = end == .stream && !example.command.contains("inlet probe")
        let command = example.command + (isEndless ? " --frames 10" : "")
        try command.write(toFile: folder.path("command"), atomically: true, encoding: .utf8)
        let done = try Documents.shell("exec unshare -rmn bash script", in: folder) { output in
            if case .interruption(let text, _) = end { output.contains(text) } else { false }
        }
        let expected: Set<Int32> =
            switch end {
            case .success, .stream: [0]
            case .failure(let statuses): statuses
            case .interruption(_, let status): [status]
            }
        #expect(expected.contains(done.status), "\(done.status), and not \(expected), as \(reason): \(done.output)")
    }
}
