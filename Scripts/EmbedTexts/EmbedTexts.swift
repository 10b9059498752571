import Foundation
import PackagePlugin

/// Turns the HTML pages and templates of a target into constants of its code: `Pages/login.html` into
/// `PackageTexts.login_html`, a `String` with the bytes of the file.
///
/// SwiftPM's own `embedInCode` writes an array of numbers. The compiler needs seconds of processor time to read the 46
/// KB of the daemon's pages as numbers, and almost none as a string literal.
@main
struct EmbedTexts: BuildToolPlugin {
    private static let script = ###"""
        set -eu
        exec >"$0"
        echo 'enum PackageTexts {'
        for file; do
            name=$(basename "$file" | tr -c 'A-Za-z0-9\n' _)
            printf 'static let %s = ##"""\n' "$name"
            cat "$file"
            printf '\n"""##\n'
        done
        echo '}'
        """###

    func createBuildCommands(context: PluginContext, target: any Target) -> [Command] {
        let files = target.sourceModule?.sourceFiles.map(\.url).filter { ["html", "txt"].contains($0.pathExtension) }
        let texts = (files ?? []).sorted { $0.path < $1.path }
        let output = context.pluginWorkDirectoryURL.appendingPathComponent("PackageTexts.swift")
        return [
            .buildCommand(
                displayName: "Embedding the texts of \(target.name)", executable: URL(fileURLWithPath: "/bin/sh"),
                arguments: ["-c", Self.script, output.path] + texts.map(\.path), inputFiles: texts,
                outputFiles: [output])
        ]
    }
}
