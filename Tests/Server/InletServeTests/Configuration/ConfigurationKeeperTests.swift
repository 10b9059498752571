import Foundation
import Inlet
import InletServe
import InletSystem
import InletTesting
import ReferenceTools
import Testing

@Suite(.timeLimit(.minutes(1))) struct ConfigurationKeeperTests {
    private let folder: TemporaryFolder
    private let path: String
    private let cameraSet: CameraSet
    private let recorders = Recorders()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("cameras.yaml")
        cameraSet = CameraSet(registry: recorders.registry, spread: .zero, logger: silent)
    }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

    private func keeper() throws -> ConfigurationKeeper {
        try ConfigurationKeeper(
            path: path, reader: ConfigurationReader(registry: recorders.registry), cameraSet: cameraSet, logger: silent)
    }

    @Test("A file with an error changes nothing; the next good one is used, and reopens only what differs")
    func reload() async throws {
        let steady = "cameras:\n  a: {source: 'count:a', sinks: [{uri: 'record:{camera}', queue: lossless}]}\n"
        try write(steady + "  b: count:b\n")
        let keeper = try keeper()
        await keeper.start()
        await recorders["a"].frames(atLeast: 2)
        try write("cameras:\n  b: [nothing\n")
        guard case .failure(let problems) = await keeper.reload() else {
            Issue.record("A broken file was taken.")
            return
        }
        #expect(!problems.list.isEmpty)
        #expect(await cameraSet.current.keys.sorted() == ["a", "b"])
        try write(steady + "  c: count:c\n")
        let tried = try await keeper.reload(isTrial: true).get()
        #expect(tried.summary.map { "\($0.name) \($0.change)" } == ["b removed", "c added"])
        #expect(await cameraSet.current.keys.sorted() == ["a", "b"])
        let plan = try await keeper.reload().get()
        #expect(plan.summary.map { "\($0.name) \($0.change)" } == ["b removed", "c added"])
        await recorders["a"].frames(atLeast: recorders["a"].frames.count + 2)
        await cameraSet.stop()
        let sequences = recorders["a"].frames.map(\.sequence)
        #expect(sequences == Array(0..<UInt64(sequences.count)))
    }

    @Test("Changes by the API are in a separate file, and survive a restart; the main file is unchanged")
    func persistence() async throws {
        let text = "# mine\ncameras:\n  a: count:a\n  b: count:b\n"
        try write(text)
        let first = try keeper()
        await first.start()
        func done(_ outcome: ConfigurationKeeper.Outcome) -> [String]? {
            guard case .done(let plan) = outcome else { return nil }
            return plan.summary.map { "\($0.name) \($0.change)" }
        }
        let camera = JSONValue.object([("source", .text("rtsp://user:hushhush@camera/main")), ("retry", .number(2))])
        // A trial changes nothing.
        #expect(done(await first.set("c", camera, isNew: true, isTrial: true)) == ["c added"])
        #expect(await cameraSet.current.keys.sorted() == ["a", "b"])
        #expect(done(await first.set("c", camera, isNew: true, isTrial: false)) == ["c added"])
        #expect(done(await first.remove("a", isTrial: false)) == ["a removed"])
        if case .exists = await first.set("c", camera, isNew: true, isTrial: false) {} else { Issue.record("twice") }
        if case .missing = await first.remove("a", isTrial: false) {} else { Issue.record("removed twice") }
        if case .wrong = await first.set("d", .text("cuont:d"), isNew: true, isTrial: false) {
        } else {
            Issue.record("d")
        }
        if case .wrong = await first.set("../d", .text("count:d"), isNew: true, isTrial: false) {
        } else {
            Issue.record("name")
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        let changes = Overlay.path(beside: path)
        let mode = try FileManager.default.attributesOfItem(atPath: changes)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted() == [
                "cameras.yaml", "cameras.yaml.changes.json", "cameras.yaml.changes.json.copy",
            ])
        await cameraSet.stop()

        let other = CameraSet(registry: recorders.registry, spread: .zero, logger: silent)
        let second = try ConfigurationKeeper(
            path: path, reader: ConfigurationReader(registry: recorders.registry), cameraSet: other,
            logger: silent)
        await second.start()
        #expect(await other.current.keys.sorted() == ["b", "c"])
        #expect(await other.current["c"]?.policies.retry == .attempts(2))
        await other.stop()
    }

    @Test("Simultaneous changes, with a reload among them, are all made and kept")
    func atOnce() async throws {
        try write("cameras:\n  a: count:a\n")
        let keeper = try keeper()
        await keeper.start()
        let numbers = 0..<20
        let path = path
        try write("cameras:\n  a: count:a\n  b: count:b\n")
        let done = await withTaskGroup(of: Bool.self) { group in
            for number in numbers {
                group.addTask {
                    let camera = JSONValue.object([("source", .text("count:c\(number)"))])
                    guard case .done = await keeper.set("c\(number)", camera, isNew: true, isTrial: false) else {
                        return false
                    }
                    return true
                }
            }
            group.addTask { (try? await keeper.reload().get()) != nil }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(done == 21)
        let all = (["a", "b"] + numbers.map { "c\($0)" }).sorted()
        #expect(await cameraSet.current.keys.sorted() == all)
        await cameraSet.stop()
        let kept = try Overlay(path: Overlay.path(beside: path))
        let read = try ConfigurationReader(registry: recorders.registry).read(
            ConfigurationReader.text(at: path), overlay: kept.nodes)
        #expect(read.cameras.keys.sorted() == all)
    }

    @Test(
        "A file of changes that a power cut emptied or damaged stops no camera: its copy is used",
        arguments: ["", "{\"cameras\": {\"c\"", "\0\0\0\0", "[]"])
    func damagedChanges(content: String) async throws {
        try write("cameras:\n  a: count:a\n")
        let first = try keeper()
        _ = await first.set("b", .text("count:b"), isNew: true, isTrial: false)
        await cameraSet.stop()
        let changes = Overlay.path(beside: path)
        for (damaged, cameras) in [([changes], ["a", "b"]), ([changes, changes + ".copy"], ["a"])] {
            for path in damaged { try Data(content.utf8).write(to: URL(fileURLWithPath: path)) }
            let other = CameraSet(registry: recorders.registry, spread: .zero, logger: silent)
            var events = other.events.makeAsyncIterator()
            let second = try ConfigurationKeeper(
                path: path, reader: ConfigurationReader(registry: recorders.registry), cameraSet: other, logger: silent)
            await second.start()
            #expect(await events.next()?.kind == "changes-damaged")
            #expect(await other.current.keys.sorted() == cameras)
            // The next change repairs both files, and keeps the damaged one.
            _ = await second.set("b", .text("count:b"), isNew: false, isTrial: false)
            await other.stop()
            #expect(try Overlay(path: changes).cameras.keys.sorted() == ["b"])
            #expect(try Overlay(path: changes + ".copy").cameras.keys.sorted() == ["b"])
            #expect(try String(contentsOfFile: changes + ".damaged", encoding: .utf8) == content)
        }
    }

    @Test("Changes that cannot be saved are not made")
    func unwritable() async throws {
        try write("cameras:\n  a: count:a\n")
        let keeper = try ConfigurationKeeper(
            path: path, overlayPath: folder.path("nowhere/changes.json"),
            reader: ConfigurationReader(registry: recorders.registry), cameraSet: cameraSet,
            logger: silent)
        await keeper.start()
        guard case .failed(let error) = await keeper.set("b", .text("count:b"), isNew: true, isTrial: false) else {
            Issue.record("It was taken.")
            return
        }
        #expect(error.code == .notFound)
        #expect(await cameraSet.current.keys.sorted() == ["a"])
        await cameraSet.stop()
    }

    @Test("A file counts as changed when it looks different, and the same twice")
    func fileChange() throws {
        try write("a")
        let first = FileSignature(path: path)
        var change = FileChange(read: first)
        try write("ab")
        let second = FileSignature(path: path)
        #expect(second != first)
        // A file that could not be read may be readable after chmod.
        unsafe chmod(path, 0o600)
        let before = FileSignature(path: path)
        unsafe chmod(path, 0o640)
        #expect(FileSignature(path: path) != before)
        // An editor may remove the file for a moment.
        let none = FileSignature(path: folder.path("none"))
        let looks = [first, second, second, second, none, second, first, none, none]
        let answers = looks.map { change.note($0) }
        #expect(answers == [false, false, true, false, false, false, false, false, true])
    }

    @Test(
        "The notifications to the service manager are those of sd_notify(3)",
        arguments: [
            (ServiceNotifier.Message.ready, "READY=1"), (.stopping, "STOPPING=1"), (.watchdog, "WATCHDOG=1"),
            (.reloading(5), "RELOADING=1\nMONOTONIC_USEC=5"), (.status("a\nREADY=1"), "STATUS=a READY=1"),
        ])
    func notification(_ message: ServiceNotifier.Message, _ text: String) { #expect(message.text == text) }
}
