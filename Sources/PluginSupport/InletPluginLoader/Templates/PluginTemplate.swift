public import InletCore

/// A new plug-in to start from: a small project that builds and shows a test picture.
public struct PluginTemplate: Sendable {
    /// A file of the project.
    public struct File: Sendable, Hashable {
        /// The path within the project's folder.
        public let path: String
        /// The content.
        public let text: String
    }

    /// The language of the plug-in.
    public let language: PluginLanguage

    public init(_ language: PluginLanguage) { self.language = language }

    /// The longest name: schemes have at most 32 bytes.
    private static let longestName = 32

    /// Returns the files of a project.
    ///
    /// - Parameter name: the name of the plug-in, which is also its scheme.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if it cannot be the name of a plug-in.
    public func files(name: String) throws(InletError) -> [File] {
        try Self.check(name)
        let manifest = name + ".inlet.json"
        switch language {
        case .c, .cpp:
            let suffix = language.rawValue
            let words = [
                "name": name, "code": "\"library\": \"\(name).so\"", "suffix": suffix,
                "compiler": language == .c ? "CC" : "CXX", "flags": language == .c ? "CFLAGS" : "CXXFLAGS",
                "standard": language == .c ? "c11" : "c++17", "build": "make", "folder": "",
                "install": "`\(name).so` and `\(manifest)`",
                "files": """
                - `\(name).\(suffix)`: the source.
                - `inlet_plugin.h`: the interface and its documentation.
                - `Makefile`: builds `\(name).so`.
                - `exports.map`: lets the linker hide everything but `inlet_plugin_entry`.
                """,
            ]
            let source = language == .c ? PackageTexts.source_c_txt : PackageTexts.source_cpp_txt
            return [
                File(path: "\(name).\(suffix)", text: Self.fill(source, words)),
                File(path: "inlet_plugin.h", text: Self.fill(PackageTexts.inlet_plugin_h_txt, [:])),
                File(path: "Makefile", text: Self.fill(PackageTexts.Makefile_txt, words)),
                File(path: "exports.map", text: Self.fill(PackageTexts.exports_map_txt, words)),
                File(path: manifest, text: Self.fill(PackageTexts.manifest_json_txt, words)),
                File(path: "README.md", text: Self.fill(PackageTexts.README_md_txt, words)),
            ]
        case .python:
            let words = [
                "name": name, "code": "\"command\": [\"python3\", \"\(name).py\"]", "folder": "",
                "build": "python3 --version  # 3.11 or later",
                "install": "`\(name).py`, `inlet_plugin.py` and `\(manifest)`",
                "files": """
                - `\(name).py`: the source. There is nothing to build.
                - `inlet_plugin.py`: the module that connects the source to Inlet, and its documentation.
                """,
            ]
            return [
                File(path: "\(name).py", text: Self.fill(PackageTexts.source_py_txt, words)),
                File(path: "inlet_plugin.py", text: Self.fill(PackageTexts.inlet_plugin_py_txt, [:])),
                File(path: manifest, text: Self.fill(PackageTexts.manifest_json_txt, words)),
                File(path: "README.md", text: Self.fill(PackageTexts.README_md_txt, words)),
            ]
        case .swift: return swiftFiles(name, manifest)
        }
    }

    private func swiftFiles(_ name: String, _ manifest: String) -> [File] {
        let type = Self.typeName(name)
        let library = "lib\(name).so"
        let words = [
            "name": name, "type": type, "code": "\"library\": \"\(library)\"", "folder": "/plugins",
            "build": """
            INLET_PACKAGE=/path/to/inlet swift build -c release -Xswiftc -static-stdlib
            mkdir -p plugins && cp .build/release/\(library) \(manifest) plugins/
            """,
            "install": "`\(library)` and `\(manifest)`",
            "files": """
            - `Sources/\(type)Source`: the source, which applications can also use directly.
            - `Sources/\(type)Plugin`: one function, which exports the source from the library.
            - `Package.swift`: builds `\(library)`. `INLET_PACKAGE` is the folder of a checkout of Inlet.
            - `exports.map`: lets the linker hide everything but `inlet_plugin_entry`.
            """,
        ]
        return [
            File(path: "Package.swift", text: Self.fill(PackageTexts.Package_swift_txt, words)),
            File(path: "exports.map", text: Self.fill(PackageTexts.exports_map_txt, words)),
            File(
                path: "Sources/\(type)Source/\(type)Source.swift",
                text: Self.fill(PackageTexts.Source_swift_txt, words)),
            File(
                path: "Sources/\(type)Source/\(type)Configuration.swift",
                text: Self.fill(PackageTexts.Configuration_swift_txt, words)),
            File(path: "Sources/\(type)Plugin/Plugin.swift", text: Self.fill(PackageTexts.Plugin_swift_txt, words)),
            File(path: manifest, text: Self.fill(PackageTexts.manifest_json_txt, words)),
            File(path: "README.md", text: Self.fill(PackageTexts.README_md_txt, words)),
        ]
    }

    /// - Throws: ``InletError/Code/invalidConfiguration`` if a name cannot be that of a plug-in, a scheme and a file.
    private static func check(_ name: String) throws(InletError) {
        let bytes = name.utf8
        let isName =
            bytes.first.map(isLowerCase) == true && bytes.last != UInt8(ascii: "-")
            && bytes.allSatisfy { isLowerCase($0) || $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
        guard isName, bytes.count <= longestName else {
            throw InletError(
                .invalidConfiguration,
                "'\(name)' is not a valid name for a plug-in. Use a lower-case letter, followed by at most 31 "
                    + "lower-case letters, digits and hyphens, such as acme-camera.")
        }
        // The file of a plug-in in Python is a module in the same folder as inlet_plugin.py.
        guard name != "inlet" else {
            throw InletError(.invalidConfiguration, "A plug-in cannot be called inlet. Choose another name.")
        }
    }

    private static func isLowerCase(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    /// Returns a name in the form of a Swift type: `AcmeCamera` for `acme-camera`.
    private static func typeName(_ name: String) -> String {
        name.split(atByte: "-").reduce(into: "") { type, word in
            type += Substring(word.utf8.prefix(1)).uppercasedASCII + String(Substring(word.utf8.dropFirst()))
        }
    }

    /// Returns a text in which names between two `@` are replaced by the given words.
    private static func fill(_ text: String, _ words: [String: String]) -> String {
        var filled: [UInt8] = []
        var rest = ArraySlice(text.utf8)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "@"), let end = rest.firstIndex(of: byte),
                let name = String(validating: rest[..<end], as: UTF8.self), let word = words[name]
            {
                filled += word.utf8
                rest = rest[(end + 1)...]
            } else {
                filled.append(byte)
            }
        }
        return String(decoding: filled, as: UTF8.self)
    }
}
