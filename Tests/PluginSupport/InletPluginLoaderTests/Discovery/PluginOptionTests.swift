import Foundation
import InletCore
import Testing

@testable import InletPluginLoader

@Suite struct PluginOptionTests {
    private let installed: InstalledPlugins

    init() throws {
        installed = try InstalledPlugins()
        try installed.install(
            "acme",
            options: """
                {"name": "size", "type": "size", "default": "1280x720", "maximum": "1920x1080", "summary": "S"},
                {"name": "wait", "type": "duration", "default": "2s", "summary": "W"},
                {"name": "flip", "type": "boolean", "summary": "F"},
                {"name": "mode", "type": "choice", "choices": ["day", "night"], "default": "day", "summary": "M"},
                {"name": "pin", "type": "secret", "summary": "P"},
                {"name": "table", "type": "path", "summary": "T"}
                """)
    }

    private func made(_ uri: String, access: LocalAccess = .denied) throws -> PluginSourceConfiguration {
        var registry = installed.registry()
        registry.localAccess = access
        return try #require(try registry.source(uri) as? PluginSourceConfiguration)
    }

    private func values(_ uri: String, access: LocalAccess = .denied) throws -> [String: String] {
        Dictionary(uniqueKeysWithValues: try made(uri, access: access).options.map { ($0.name, $0.value) })
    }

    @Test("Every declared option arrives, with its default or empty")
    func defaults() throws {
        let made = try made("acme:x")
        #expect(made.options.map(\.name) == ["size", "wait", "flip", "mode", "pin", "table"])
        #expect(made.options.map(\.value) == ["1280x720", "2000000000ns", "", "day", "", ""])
    }

    @Test("Values arrive in one form, however the user wrote them")
    func canonical() throws {
        let values = try values("acme:x?size=640X480&wait=5ms&flip=On&mode=night")
        #expect(values["size"] == "640x480")
        #expect(values["wait"] == "5000000ns")
        #expect(values["flip"] == "true")
        #expect(values["mode"] == "night")
    }

    @Test(
        "A value outside of its type or range, an unknown option and a zero byte are refused",
        arguments: [
            "acme:?size=1920x1081", "acme:?mode=dusk", "acme:?flip=2", "acme:?wait=soon", "acme:?siez=1x1",
            "acme:?mode=day&mode=day", "acme:?pin=a%00b", "acme:a%00b", "acme:?table=/etc/hosts",
        ])
    func refuses(_ uri: String) {
        let error = #expect(throws: InletError.self) { try made(uri) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test("A secret comes as a value, from a file or from a variable, and appears nowhere")
    func secrets() throws {
        let access = LocalAccess { place throws(InletError) in
            switch place {
            case .file(let path): Array("of \(path)\n".utf8)
            case .variable(let name): Array("of \(name)".utf8)
            }
        }
        #expect(try values("acme:?pin=hunter2")["pin"] == "hunter2")
        #expect(try values("acme:?pin-file=/run/pin", access: access)["pin"] == "of /run/pin")
        #expect(try values("acme:?pin-env=PIN", access: access)["pin"] == "of PIN")
        #expect(throws: InletError.self) { try made("acme:?pin-env=PIN") }
        let redacted = try made("acme:x?pin=hunter2&mode=day").redactedURI
        #expect(!redacted.contains("hunter2"))
        #expect(redacted.contains("mode=day"))
    }

    @Test("A path from the user is made absolute, and the plug-in may use that file")
    func paths() throws {
        let access = LocalAccess { _ throws(InletError) in [] }
        let absolute = try made("acme:?table=/etc/hosts", access: access)
        #expect(absolute.options.last?.value == "/etc/hosts")
        #expect(absolute.program.permissions.files == ["/etc/hosts"])
        let relative = try made("acme:?table=a/b.csv", access: access)
        let path = try #require(relative.program.permissions.files.first)
        #expect(path.hasPrefix("/") && path.hasSuffix("/a/b.csv"))
        #expect(relative.options.last?.value == path)
    }

    @Test("A new version is refused if it has more permissions than the running one, and accepted with fewer")
    func reach() throws {
        func option(_ name: String, _ rest: String) -> String {
            "{\"name\": \"\(name)\", \"summary\": \"S\", \"type\": \(rest)}"
        }
        func options(mode: String = "\"text\"", pin: String = "\"secret\"", table: String = "\"path\"") -> String {
            [option("mode", mode), option("pin", pin), option("table", table)].joined(separator: ", ")
        }
        func install(_ options: String, code: String = "", extra: String = ", \"memory\": \"1GiB\"") throws {
            try installed.install("acme", options: options, code: code, extra: extra)
        }
        try install(options())
        let access = LocalAccess { _ throws(InletError) in [] }
        let running = try made("acme:?mode=/etc/hosts&pin=x&table=/etc/hosts", access: access)
        func refusal(_ install: () throws -> Void) throws -> InletError.Code? {
            try install()
            do throws(InletError) {
                _ = try running.updates?.find()
                return nil
            } catch {
                return error.code
            }
        }
        #expect(running.updates != nil)
        #expect(try refusal { try install(options(), extra: ", \"memory\": \"512MB\"") } == nil)
        #expect(try refusal { try install(options(), extra: ", \"memory\": \"2GiB\"") } == .permissionDenied)
        #expect(try refusal { try install(options(), extra: "") } == .permissionDenied)
        #expect(try refusal { try install(options(), code: "\"command\": [\"true\"]") } == .permissionDenied)
        #expect(try refusal { try install(options(mode: "\"path\"")) } == .permissionDenied)
        #expect(try refusal { try install(options(pin: "\"text\"")) } == .permissionDenied)
        let creates = options(table: "\"path\", \"access\": \"create\"")
        #expect(try refusal { try install(creates) } == .permissionDenied)
        #expect(try refusal { try install(options()) } == nil)
    }
}
