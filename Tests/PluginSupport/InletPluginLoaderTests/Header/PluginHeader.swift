import Foundation
import ReferenceTools

/// A version of `inlet_plugin.h`, read as text.
struct PluginHeader {
    let text: String

    /// The folder of the current header.
    static let present = BuiltProgram.package.appending(path: "Sources/C/CInletPlugin/include")
    /// The folder of the header of version 1.0.
    static let first = BuiltProgram.package.appending(path: "Tests/TestPlugins/Frozen/1.0")

    /// Reads the header in a folder.
    init(in folder: URL) throws {
        text = try String(contentsOf: folder.appending(path: "inlet_plugin.h"), encoding: .utf8)
    }

    private init(text: String) { self.text = text }

    /// The header without its comments.
    private var code: String { text.replacing(/\/\*(.|\n)*?\*\//, with: "") }

    /// Every struct with its fields.
    var structs: [(name: String, fields: [String])] {
        code.matches(of: /typedef struct (\w+) \{\n((?:.|\n)*?)\n\} \1;/).map { found in
            let fields = found.output.2.split(separator: ";").compactMap { declaration -> String? in
                let function = declaration.firstMatch(of: /\(\*(\w+)\)\s*\(/).map { String($0.output.1) }
                return function ?? declaration.firstMatch(of: /(\w+)\s*(?:\[\w+\])?\s*$/).map { String($0.output.1) }
            }
            return (String(found.output.1), fields)
        }
    }

    /// Names of numbers except for the versions: enumerators and macros.
    var numbers: [String] {
        let all = code.matches(of: /(?m)^ +(INLET_\w+) =/).map { String($0.output.1) }
        return all + ["INLET_PLUGIN_MAGIC", "INLET_NO_TIME"]
    }

    /// Names of strings.
    var ids: [String] { code.matches(of: /(?m)^#define (INLET_\w+_ID) "/).map { String($0.output.1) } }

    /// A C program that prints the offset of each field and the value of each name, for the header it is compiled with.
    var layoutProgram: String {
        var lines = ["#include <inlet_plugin.h>", "#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
        for (name, fields) in structs {
            for field in fields {
                lines.append(
                    "printf(\"\(name).\(field) at %zu, %zu long\\n\", offsetof(\(name), \(field)), "
                        + "sizeof(((\(name) *)0)->\(field)));")
            }
        }
        lines += numbers.map { "printf(\"\($0) %lld\\n\", (long long)\($0));" }
        lines += ids.map { "printf(\"\($0) %s\\n\", \($0));" }
        return (lines + ["return 0;", "}", ""]).joined(separator: "\n")
    }

    /// The header of a possible later minor version: each struct that states its size is 32 bytes longer.
    var grown: PluginHeader {
        var later = text.replacing(/#define INLET_PLUGIN_MINOR (\d+)/) {
            "#define INLET_PLUGIN_MINOR \((Int($0.output.1) ?? 0) + 1)"
        }
        for (name, fields) in structs where fields.first == "size" {
            later = later.replacing("\n} \(name);", with: "\n    uint64_t added[4];\n} \(name);")
        }
        return PluginHeader(text: later)
    }

    /// Writes the header to a folder.
    func write(to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/inlet_plugin.h"))
    }
}
