import Glibc
public import InletCore

// Unsafe: writes files.
extension PluginTemplate {
    /// Writes a project into a new folder.
    ///
    /// - Parameters:
    ///   - name: the name of the plug-in.
    ///   - folder: the path of the folder, which must not exist. The default is the plug-in's name in the current
    ///     folder.
    /// - Returns: the paths of the files.
    /// - Throws: as ``files(name:)``; ``InletError/Code/busy`` if the path exists already;
    ///   ``InletError/Code/permissionDenied``, ``InletError/Code/notFound`` or ``InletError/Code/inputOutput`` if it
    ///   cannot be written.
    @discardableResult
    public func write(name: String, to folder: String? = nil) throws(InletError) -> [String] {
        let files = try files(name: name)
        let folder = folder ?? name
        // The mode keeps others from writing: Inlet does not run code that others could have changed.
        try Self.makeFolder(folder, isNew: true)
        var paths: [String] = []
        for file in files {
            var parent = folder
            for part in file.path.split(atByte: "/").dropLast() {
                parent += "/" + part
                try Self.makeFolder(parent, isNew: false)
            }
            let path = folder + "/" + file.path
            try Self.write(Array(file.text.utf8), to: path)
            paths.append(path)
        }
        return paths
    }

    private static func makeFolder(_ path: String, isNew: Bool) throws(InletError) {
        guard unsafe mkdir(path, 0o755) != 0 else { return }
        let number = errno
        if number == EEXIST, !isNew { return }
        throw error(number, path, "mkdir")
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(InletError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw error(errno, path, "open") }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Self.write(descriptor, $0) }
            guard count > 0 else { throw error(errno, path, "write") }
            rest = rest.dropFirst(count)
        }
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        while true {
            let count = unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    private static func error(_ number: Int32, _ path: String, _ operation: String) -> InletError {
        let (code, message): (InletError.Code, String) =
            switch number {
            case EEXIST: (.busy, "\(path) already exists. Choose another name, or move it.")
            case ENOENT, ENOTDIR: (.notFound, "The folder of \(path) does not exist. Create it first.")
            case EACCES, EPERM, EROFS: (.permissionDenied, "\(path) may not be written. Choose a writable folder.")
            default: (.inputOutput, "\(path) cannot be written (errno \(number)). Check whether the disk is full.")
            }
        return InletError(code, message, context: .init(subject: path, operation: operation, nativeCode: number))
    }
}
