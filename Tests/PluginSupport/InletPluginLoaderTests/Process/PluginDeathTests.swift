import InletCore
import InletPluginIPC
import Testing

@testable import InletPluginLoader

extension PluginProcessTests {
    @Suite struct PluginDeathTests {
        static let steps = ["create", "open", "next"]

        /// Runs a scenario until it fails, and returns the error.
        static func error(of scenario: String, deadline: Duration = .seconds(60)) throws -> InletError {
            let child = try ScriptedChild(scenario)
            let run = try SourceRun(child.configuration())
            run.context.setDeadline(after: deadline)
            let error = SourceRun.error {
                _ = try run.open()
                for _ in 0..<10 { _ = try run.frame() }
            }
            run.close()
            return try #require(error, "nothing failed in \(scenario)")
        }

        @Test("The end of a child is reported with its cause and its last output", arguments: steps)
        func exits(step: String) throws {
            let error = try Self.error(of: "write@\(step),exit@\(step),code=7,at=2")
            #expect(error.code == .disconnected)
            #expect(error.message.contains("exit code 7"))
            #expect(error.message.contains("the first line / the sensor says [31mno"))
            #expect(try Self.error(of: "exit@\(step),code=0").code == .disconnected)
        }

        @Test("A child ended by a signal is reported with the signal's name", arguments: steps)
        func signals(step: String) throws {
            for (number, name) in [(11, "SIGSEGV"), (6, "SIGABRT"), (9, "SIGKILL")] {
                let error = try Self.error(of: "signal@\(step),code=\(number),at=1")
                #expect(error.code == .disconnected)
                #expect(error.message.contains(name))
            }
            let error = try Self.error(of: "signal@\(step),code=31")
            #expect(error.code == .permissionDenied)
            #expect(error.message.contains("its manifest has no permission for"))
        }

        @Test("A child that closes its connection is killed", arguments: steps)
        func closes(step: String) throws {
            let error = try Self.error(of: "close@\(step)")
            #expect(error.code == .disconnected)
            #expect(error.message.contains("closed its connection"))
            #expect(ProcessFacts.children().isEmpty)
        }

        @Test("Descriptors sent by a child are not kept", arguments: [1, 2, 3, 253])
        func passedDescriptors(count: Int) throws {
            let child = try ScriptedChild("descriptors@next,passed=\(count)")
            let run = try SourceRun(child.configuration())
            run.context.setDeadline(after: .seconds(60))
            _ = try run.open()
            for _ in 0..<20 { _ = try run.frame() }
            // At most the descriptor of the last message.
            #expect(ProcessFacts.descriptors(of: "/dev/full") <= 1)
            run.close()
            #expect(ProcessFacts.descriptors(of: "/dev/full") == 0)
        }

        @Test("A child's use of its cancellation descriptor blocks nothing")
        func filledWake() throws {
            let error = try Self.error(of: "fill-wake@next", deadline: .seconds(1))
            #expect(error.code == .timedOut)
            let child = try ScriptedChild("fill-wake@next")
            let run = try SourceRun(child.configuration())
            run.context.setDeadline(after: .seconds(60))
            _ = try run.open()
            run.context.cancel()
            #expect(SourceRun.error { _ = try run.frame() }?.code == .cancelled)
            run.close()
            #expect(ProcessFacts.children().isEmpty)
        }

        @Test("A child that hangs is killed at the deadline", arguments: steps)
        func hangs(step: String) throws {
            for word in ["hang", "silent"] {
                let error = try Self.error(of: "\(word)@\(step)", deadline: .seconds(1))
                #expect(error.code == .timedOut)
                #expect(ProcessFacts.children().isEmpty)
            }
        }

        @Test("A child that hangs in pause or close delays nothing for long", arguments: ["pause", "resume", "close"])
        func hangsLater(step: String) throws {
            let child = try ScriptedChild("hang@\(step)")
            let run = try SourceRun(child.configuration())
            _ = try run.open()
            run.context.setDeadline(after: .seconds(1))
            let error = SourceRun.error {
                _ = try run.source.pause(run.context)
                run.context.setDeadline(after: .seconds(1))
                try run.source.resume(run.context)
            }
            #expect(error?.code == (step == "close" ? nil : .timedOut))
            run.close()
            #expect(ProcessFacts.children().isEmpty)
        }

        @Test("A cancellation ends a call at once, whatever the child does", arguments: steps)
        func cancels(step: String) throws {
            for word in ["hang", "silent", "flood"] {
                let child = try ScriptedChild("\(word)@\(step),pace=20")
                let run = try SourceRun(child.configuration())
                run.cancel(after: .milliseconds(300))
                let error = SourceRun.error {
                    _ = try run.open()
                    while true { _ = try run.frame() }
                }
                // A flood may exceed its limit earlier.
                #expect(error?.code == .cancelled || word == "flood" && error?.code == .pluginRejected)
                run.close()
                #expect(ProcessFacts.children().isEmpty)
            }
        }

        @Test("A plug-in's own error has its code, its sentence and its wait", arguments: 1...17)
        func ownErrors(number: Int32) throws {
            let error = try Self.error(
                of: "error@open,result=-\(number),native=19,retry=3000000000,message=no camera at user:pw@host\u{7}")
            // The call was not cancelled, so -17 is a false code.
            guard number != 17 else {
                #expect(error.code == .pluginRejected)
                return
            }
            #expect(error.code == ResultCode.code(of: -number))
            #expect(error.message.hasPrefix("no camera at "))
            #expect(error.message.hasSuffix("\\u{7}"))
            #expect(error.context.nativeCode == 19)
            #expect(error.retryAfter == .seconds(3))
        }

        @Test("Nothing is left over from children that ended in any way")
        func nothingLeft() throws {
            let before = ProcessFacts.descriptors().sorted()
            for scenario in ["exit@create", "hang@next", "signal@next,at=2", "close@open", "item.width=0", ""] {
                let child = try ScriptedChild(scenario)
                let run = try SourceRun(child.configuration())
                run.context.setDeadline(after: .seconds(1))
                _ = SourceRun.error {
                    _ = try run.open()
                    for _ in 0..<4 { _ = try run.frame() }
                }
                run.close()
            }
            #expect(ProcessFacts.children().isEmpty)
            #expect(ProcessFacts.sharedMaps() == 0)
            #expect(ProcessFacts.descriptors().sorted() == before)
        }

        @Test("A program that is missing or not executable is an error that suggests a remedy")
        func noProgram() throws {
            var configuration = try ScriptedChild("").configuration()
            let run = try SourceRun(configuration)
            #expect(SourceRun.error { _ = try run.open() }?.code == .notFound)
            configuration.program.hostPath = "/etc/passwd"
            let other = try SourceRun(configuration)
            #expect(SourceRun.error { _ = try other.open() }?.code == .permissionDenied)
        }

        @Test("The child gets its arguments, no environment, and only four descriptors")
        func environment() throws {
            let child = try ScriptedChild("arguments")
            var configuration = child.configuration()
            configuration.program.permissions = PluginPermissions(network: true, devices: true, files: ["/a b", "/c"])
            configuration.program.withoutLayers = ["seccomp", "landlock"]
            configuration.program.memoryLimit = 1 << 30
            let run = try SourceRun(configuration)
            let message = try #require(SourceRun.error { _ = try run.open() }).message
            let parts = message.split(separator: "|").map(String.init)
            try #require(parts.count == 3, "\(message)")
            #expect(
                parts[0] == "--network --devices --file /a b --file /c --memory 1073741824 --without landlock "
                    + "--without seccomp --library /none.so")
            // The shell sets some variables itself.
            #expect(!parts[1].contains("HOME") && !parts[1].contains("PATH="))
            // The socket is 3, and 4 is the descriptor of the listing.
            #expect(parts[2] == "0,1,2,3,4")
        }

        @Test("A probe returns the ids, or the reason for its failure")
        func probe() throws {
            let child = try ScriptedChild("ids=inlet.source/1 inlet.sink/1")
            #expect(try child.program().probe(within: .seconds(60)) == ["inlet.source/1", "inlet.sink/1"])
            for (scenario, code) in [
                ("error@probe,result=-15,message=it is too old", InletError.Code.pluginRejected),
                ("signal@probe,code=11", .disconnected), ("exit@probe", .disconnected), ("hang@probe", .timedOut),
                ("garbage@probe", .pluginRejected), ("ids=\u{FF}", .pluginRejected),
            ] {
                let broken = try ScriptedChild(scenario)
                let limit = scenario.hasPrefix("hang") ? Duration.seconds(1) : .seconds(60)
                let error = SourceRun.error { _ = try broken.program().probe(within: limit) }
                #expect(error?.code == code, "\(scenario): \(error?.message ?? "no error")")
            }
            #expect(ProcessFacts.children().isEmpty)
        }
    }
}
