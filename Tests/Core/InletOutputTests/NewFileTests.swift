import Foundation
import Glibc
import InletCore
import InletOutput
import ReferenceTools
import Testing

/// The files that sinks create, and those that they do not touch.
struct NewFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(
        _ path: String, mode: FileMode = .owner, _ existing: NewFile.Existing = .replaced
    ) throws -> NewFile {
        let file = try NewFile(path, mode: mode, existing: existing)
        close(file.descriptor)
        return file
    }

    private func failure(_ path: String, _ existing: NewFile.Existing = .replaced) -> InletError? {
        #expect(throws: InletError.self) { try open(path, existing) }
    }

    private func facts(_ path: String) -> (mode: UInt32, inode: UInt64) {
        var facts = stat()
        #expect(unsafe lstat(path, &facts) == 0)
        return (UInt32(facts.st_mode) & 0o7777, UInt64(facts.st_ino))
    }

    @Test(
        "A file has the requested mode, regardless of the umask",
        arguments: [0o600, 0o640, 0o644, 0o666] as [UInt16])
    func modes(bits: UInt16) async throws {
        let path = folder.path("file")
        await #expect(processExitsWith: .success) { [path = path as String, bits = bits as UInt16] in
            for mask in [0o777, 0o022, 0] as [mode_t] {
                umask(mask)
                let mode = try #require(FileMode(bits))
                close(try NewFile(path, mode: mode, existing: .replaced).descriptor)
                var facts = stat()
                #expect(unsafe stat(path, &facts) == 0)
                #expect(facts.st_mode & 0o7777 == mode_t(bits))
            }
        }
    }

    @Test("A replaced file is a new file: other names of it, and processes that have it open, keep the old one")
    func replaced() throws {
        let (path, other) = (folder.path("file"), folder.path("other"))
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        #expect(unsafe chmod(path, 0o666) == 0)
        #expect(unsafe link(path, other) == 0)
        let before = facts(path)
        let file = try open(path)
        #expect(file.isNew && file.isRegular)
        #expect(facts(path).inode != before.inode && facts(path).mode == 0o600)
        #expect(try Data(contentsOf: URL(fileURLWithPath: other)) == Data("old".utf8))
        #expect(failure(path, .kept)?.context.nativeCode == EEXIST)
    }

    @Test("A symbolic link to any target is refused, and the target does not change")
    func links() throws {
        let (link, target) = (folder.path("link"), folder.path("target"))
        try Data("mine".utf8).write(to: URL(fileURLWithPath: target))
        for destination in [target, folder.path("nothing"), "/dev/null", link] {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: destination)
            for existing in [NewFile.Existing.replaced, .replacedUnlessPipe, .kept] {
                let error = failure(link, existing)
                #expect(error?.code == (existing == .kept ? .inputOutput : .invalidConfiguration))
                if existing != .kept { #expect(error?.message.contains("symbolic link") == true) }
            }
            try FileManager.default.removeItem(atPath: link)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("mine".utf8))
        #expect(!FileManager.default.fileExists(atPath: folder.path("nothing")))
    }

    @Test("Pipes are opened without waiting, or refused")
    func pipes() throws {
        let path = folder.path("pipe")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        #expect(failure(path)?.code == .notFound)
        #expect(failure(path, .replacedUnlessPipe)?.code == .invalidConfiguration)
        let reader = try #require(FileHandle(forUpdatingAtPath: path))
        defer { try? reader.close() }
        #expect(try !open(path).isRegular)
        #expect(failure(path, .replacedUnlessPipe)?.code == .invalidConfiguration)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("The system's own names for devices and descriptors, which are links, are followed")
    func systemNames() throws {
        let path = folder.path("file")
        let descriptor = try NewFile(path, mode: .owner, existing: .kept).descriptor
        defer { close(descriptor) }
        for name in ["/dev/null", "/dev/fd/\(descriptor)"] {
            let file = try open(name)
            // The name was not created here, and must not be removed.
            #expect(!file.isNew)
        }
        #expect(FileManager.default.fileExists(atPath: "/dev/null"))
        #expect(failure("/dev/inlet-is-no-device")?.code == .notFound)
        #expect(!FileManager.default.fileExists(atPath: "/dev/inlet-is-no-device"))
        // A folder below /dev in which every user can create a link.
        let link = "/dev/shm/inlet-test-\(UUID().uuidString)"
        for name in [link, "/dev/shm/\u{301}\(UUID().uuidString)"] {
            try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: path)
            defer { unsafe unlink(name) }
            #expect(failure(name)?.code == .invalidConfiguration)
        }
    }

    @Test(
        "Modes are octal digits without execution",
        arguments: [
            ("600", 0o600), ("0600", 0o600), ("644", 0o644), ("666", 0o666), ("755", nil), ("400", nil), ("060", nil),
            ("4600", nil), ("6000", nil), ("0x180", nil), ("", nil), ("6", nil), ("668", nil), ("+600", nil),
        ])
    func text(_ text: String, _ bits: Int?) {
        #expect(FileMode(optionText: text)?.bits == bits.map(UInt16.init))
        if bits != nil { #expect(FileMode(optionText: text)?.optionText.count == 3) }
    }

    @Test(
        "Users who may read a file may list and enter its folder",
        arguments: [(0o600, 0o700), (0o640, 0o750), (0o666, 0o777)] as [(UInt16, UInt16)])
    func folders(_ bits: UInt16, _ folder: UInt16) throws {
        #expect(try #require(FileMode(bits)).folderBits == folder)
    }
}
