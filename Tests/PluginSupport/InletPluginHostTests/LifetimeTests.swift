import CInletPlugin
import Glibc
import InletPluginIPC
import ReferenceTools
import Testing

/// A child that Inlet leaves, floods or misunderstands, and programs that speak the protocol themselves.
@Suite(.blocking) struct LifetimeTests {
    @Test("a child ends when Inlet is gone, while it waits and while the plug-in hangs")
    func hangUp() throws {
        let bars = try CompiledPlugin("bars", in: "Samples/CSource")
        let waiting = try PluginChild(["--library", bars.path])
        _ = try waiting.create()
        waiting.hangUp()
        #expect(try waiting.waitForEnd() == .exit(76))

        let actions = try CompiledPlugin("actions")
        let hanging = try PluginChild(["--library", actions.path])
        var request = inlet_create()
        request.type = UInt32(INLET_MESSAGE_CREATE)
        request.kind = UInt32(INLET_KIND_SOURCE)
        request.major = UInt16(INLET_PLUGIN_MAJOR)
        request.option_count = 1
        try hanging.send(request, ["", "", "action", "hang"].flatMap { Array($0.utf8) + [0] })
        hanging.hangUp()
        #expect(try hanging.waitForEnd() == .exit(76))
    }

    @Test("one thread may call everything, and is recognized")
    func threadCheck() throws {
        let actions = try CompiledPlugin("actions")
        let child = try PluginChild(["--library", actions.path])
        #expect(try child.create([("action", "check")]).text == "done")
    }

    @Test("a hundred log lines a second are passed on, and the rest counted")
    func logFlood() throws {
        let actions = try CompiledPlugin("actions")
        let child = try PluginChild(["--library", actions.path])
        #expect(try child.create([("action", "log")]).text == "done")
        let lines = child.notes.count { FixedText.text($0.text) == "line" }
        // One second may end and another begin meanwhile, on a slow machine more.
        #expect(lines >= 100 && lines < 1000)
    }

    @Test("options that differ from their message are refused, and so is another version")
    func confusion() throws {
        let bars = try CompiledPlugin("bars", in: "Samples/CSource")
        var request = inlet_create()
        request.type = UInt32(INLET_MESSAGE_CREATE)
        request.kind = UInt32(INLET_KIND_SOURCE)
        request.major = UInt16(INLET_PLUGIN_MAJOR)
        request.option_count = 1
        let trailers: [[UInt8]] = [[], [0], [0, 0], [0, 0, 0, 65], [0, 0, 0, 0, 0]]
        for trailer in trailers {
            let child = try PluginChild(["--library", bars.path])
            try child.send(request, trailer)
            let result: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
            #expect(result.result == INLET_ERROR_INTERNAL)
            #expect(try child.waitForEnd() == .exit(1))
        }
        request.option_count = .max
        request.major = 2
        let child = try PluginChild(["--library", bars.path])
        try child.send(request, [0, 0])
        let result: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
        #expect(result.result == INLET_ERROR_PLUGIN)
    }

    @Test("a program speaks the protocol itself, in the sandbox, and reads only its own folder")
    func program() throws {
        let folder = try TemporaryFolder()
        let script = """
            import os, socket, struct, sys
            def attempt(action):
                try:
                    action()
                    return 'done'
                except OSError as error:
                    return os.strerror(error.errno)
            text = ', '.join([
                attempt(lambda: open('/etc/passwd').read()), attempt(os.fork), attempt(lambda: socket.socket()),
                os.environ.get('INLET_PLUGIN_PROBE', '-'), sys.argv[1],
            ])
            channel = socket.socket(fileno=3)
            channel.send(struct.pack('@IiiIq496s32x', 101, 0, 0, 0, 0, text.encode()))
            """
        let path = folder.path("plugin.py")
        let file = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
        #expect(unsafe write(file, script, script.utf8.count) == script.utf8.count)
        close(file)
        let child = try PluginChild([
            "--probe", "--folder", folder.path(""), "--command", "python3", "-B", path, "word",
        ])
        let result: inlet_wire_result = try child.receive(INLET_MESSAGE_RESULT)
        #expect(result.text == "Permission denied, Operation not permitted, Operation not permitted, 1, word")
        #expect(try child.waitForEnd() == .exit(0))
    }

    @Test("a missing program has a clear error")
    func noProgram() throws {
        let child = try PluginChild(["--command", "inlet-no-such-program"])
        let result = try child.create()
        #expect(result.result == INLET_ERROR_PLUGIN)
        #expect(result.text.contains("inlet-no-such-program"))
        #expect(try child.waitForEnd() == .exit(1))
    }
}
