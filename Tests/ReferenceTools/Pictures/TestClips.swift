import Foundation

/// The clips that `Scripts/make-clips` makes, on first use.
public enum TestClips {
    private static let folder: Result<URL, any Error> = Result {
        let folder = BuiltProgram.package.appendingPathComponent(".build/clips")
        try ReferenceCommand.run(BuiltProgram.package.appendingPathComponent("Scripts/make-clips").path, [folder.path])
        return folder
    }

    /// The path of a clip.
    public static func path(_ name: String) throws -> String { try folder.get().appendingPathComponent(name).path }
}
