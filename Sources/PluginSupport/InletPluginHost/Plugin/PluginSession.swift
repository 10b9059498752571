import CInletPlugin
import Glibc
import InletCore
import InletPluginIPC
import InletSystem

// Unsafe: loads the library of a plug-in.
/// The life of the process after the sandbox: loads the library, makes the instance that Inlet asks for, and serves it
/// until the end. Main thread.
final class PluginSession {
    private let arguments: HostArguments
    private let inbox = MessageInbox()

    init(_ arguments: HostArguments) { self.arguments = arguments }

    /// Answers Inlet's first question with a failure, and ends the process.
    func fail(_ failure: PluginFailure) -> Never {
        // Inlet reads the answer to its question; without one it would find its connection closed.
        if !arguments.isProbe { inbox.receive() }
        HostChannel.shared.answer(failure.answer)
        exit(arguments.isProbe ? ExitCode.closed : ExitCode.failed)
    }

    /// Runs until Inlet closes the plug-in.
    func run(library path: String) -> Never {
        do throws(PluginFailure) {
            let library = try load(path)
            if arguments.isProbe { probe(library) }
            let instance = try create(library)
            instance.answerCreate()
            serve(instance)
            library.finish()
            exit(ExitCode.closed)
        } catch {
            HostChannel.shared.answer(error.answer)
            exit(ExitCode.failed)
        }
    }

    private func load(_ path: String) throws(PluginFailure) -> PluginLibrary {
        do throws(InletError) {
            return unsafe try PluginLibrary(path: path, host: PluginEnvironment.host())
        } catch {
            fail(PluginFailure(error))
        }
    }

    /// Reports the interfaces of the plug-in, and ends the process.
    private func probe(_ library: PluginLibrary) -> Never {
        var answer = inlet_wire_result()
        answer.type = UInt32(INLET_MESSAGE_RESULT)
        do throws(InletError) {
            _ = try library.source()
            _ = try library.sink()
            FixedText.write(library.interfaces.joined(separator: " "), to: &answer.message)
            library.finish()
        } catch {
            answer = PluginFailure(error).answer
        }
        HostChannel.shared.answer(answer)
        exit(ExitCode.closed)
    }

    private func create(_ library: PluginLibrary) throws(PluginFailure) -> any PluginInstance {
        inbox.receive(onEnd: library.finish)
        let (request, configuration) = try readRequest()
        switch Int(request.kind) {
        case INLET_KIND_SOURCE:
            let interface = try interface(INLET_SOURCE_ID) { () throws(InletError) in try library.source() }
            return try SourceInstance(interface, configuration, inbox)
        case INLET_KIND_SINK:
            let interface = try interface(INLET_SINK_ID) { () throws(InletError) in try library.sink() }
            return try SinkInstance(interface, configuration, inbox)
        default: throw PluginFailure(INLET_ERROR_INTERNAL, "Inlet requests an unknown kind of plug-in.")
        }
    }

    /// Runs an exercise with what Inlet asks for, which loads the library by itself, answers, and ends the process.
    func exercise(_ name: String, library path: String) -> Never {
        inbox.receive()
        do throws(PluginFailure) {
            let (request, configuration) = try readRequest()
            PluginExercise.run(name, library: path, configuration, isSink: Int(request.kind) == INLET_KIND_SINK)
        } catch {
            HostChannel.shared.answer(error.answer)
            exit(ExitCode.failed)
        }
    }

    /// Reads the newest message, which is to make an instance.
    private func readRequest() throws(PluginFailure) -> (inlet_create, ConfigurationMemory) {
        // Before anything can refuse, so that the descriptor has its owner.
        inbox.takeWakeDescriptor()
        guard inbox.message.type == UInt32(INLET_MESSAGE_CREATE), let request = inbox.message.read(inlet_create.self)
        else { throw PluginFailure(INLET_ERROR_INTERNAL, "Inlet's first message does not create anything.") }
        guard Int32(request.major) == INLET_PLUGIN_MAJOR else {
            throw PluginFailure(
                "This inlet-plugin-host speaks version \(INLET_PLUGIN_MAJOR) of the interface, and Inlet version "
                    + "\(request.major). Install both from the same package.")
        }
        let texts = inbox.message.trailer(after: inlet_create.self)
        guard let configuration = ConfigurationMemory(texts, optionCount: request.option_count) else {
            throw PluginFailure(INLET_ERROR_INTERNAL, "Inlet's options do not match its message. Report this.")
        }
        return (request, configuration)
    }

    private func interface<Interface>(
        _ id: String, _ read: () throws(InletError) -> Interface?
    ) throws(PluginFailure) -> Interface {
        do throws(InletError) {
            if let interface = try read() { return interface }
        } catch {
            throw PluginFailure(error)
        }
        throw PluginFailure("The plug-in has no interface \(id). Its manifest promises more than it has.")
    }

    /// Handles messages until Inlet closes the plug-in, or is gone.
    private func serve(_ instance: any PluginInstance) {
        func closeSoon() { instance.close(by: MonotonicTime.now.nanoseconds + Self.patience) }
        while !inbox.isClosing {
            inbox.receive(onEnd: closeSoon)
            let type = Int(inbox.message.type)
            if type == INLET_MESSAGE_CLOSE, let request = inbox.message.read(inlet_message.self) {
                return instance.close(by: request.deadline)
            }
            do throws(PluginFailure) {
                if try instance.handle(type) { continue }
            } catch {
                // Nobody waits for the answer any more.
                if !inbox.isClosing { HostChannel.shared.answer(error.answer) }
                continue
            }
            // Inlet is of another version, or confused.
            closeSoon()
            exit(ExitCode.gone)
        }
        closeSoon()
    }

    /// The time that a plug-in may take to end if Inlet has set no time.
    private static let patience: Int64 = 1_000_000_000
}
