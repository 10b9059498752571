import InletCore

extension ManifestReader {
    /// Returns the manifest, or nil if a required part is missing. There may be problems in either case.
    mutating func manifest(_ value: JSONValue, file: String) -> PluginManifest? {
        guard
            let members = object(
                value, "", required: ["inlet-plugin", "name", "version", "license", "summary"],
                optional: ["$schema", "library", "command", "sources", "sinks", "permissions", "memory"])
        else { return nil }
        checkFormat(members["inlet-plugin"])
        let name = name(members["name"], file: file)
        let version = text(members["version"], "version", longest: 64)
        let license = text(
            members["license"], "license", longest: 128, "write an SPDX expression such as \"Apache-2.0\"",
            where: { $0.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || ".+-() ".utf8.contains($0) } })
        let summary = text(members["summary"], "summary", longest: 200)
        let code = code(members, of: value)
        let sources = endpoints(members["sources"], "sources", areSinks: false)
        let sinks = endpoints(members["sinks"], "sinks", areSinks: true)
        if (members["sources"]?.elements ?? []).isEmpty, (members["sinks"]?.elements ?? []).isEmpty {
            report(value, "sources", "there is neither a source nor a sink; declare what the plug-in offers")
        }
        let permissions = permissions(members["permissions"])
        let memory = memory(members["memory"])
        guard let name, let version, let license, let summary, let code else { return nil }
        return PluginManifest(
            name: name, version: version, license: license, summary: summary, code: code, sources: sources,
            sinks: sinks, permissions: permissions, memoryLimit: memory)
    }

    private mutating func checkFormat(_ value: JSONValue?) {
        guard let value else { return }
        let format = PluginManifest.format
        guard let number = value.number.flatMap({ Int($0) }) else {
            return report(value, "inlet-plugin", "it is the format of the manifest; write \(format)")
        }
        if number > format {
            report(
                value, "inlet-plugin",
                "format \(number) is newer than this Inlet, which reads format \(format); use a newer Inlet")
        } else if number < format {
            report(value, "inlet-plugin", "there is no format \(number); write \(format)")
        }
    }

    private mutating func name(_ value: JSONValue?, file: String) -> String? {
        let name = text(
            value, "name", longest: 64, "write lower-case letters, digits and hyphens, such as \"acme-camera\"",
            where: { Self.isName($0, firstDigit: true) })
        let base = String(file.split(atByte: "/").last ?? "")
        guard let value, let name, !base.isSameBytes(as: name + PluginManifest.fileSuffix) else { return name }
        report(value, "name", "the file is called \(base); name it \(name)\(PluginManifest.fileSuffix)")
        return name
    }

    private mutating func code(_ members: [String: JSONValue], of whole: JSONValue) -> PluginManifest.Code? {
        switch (members["library"], members["command"]) {
        case (nil, nil):
            report(whole, "library", "it is missing; name the shared library, such as \"acme.so\", or a \"command\"")
            return nil
        case (_?, let command?):
            report(command, "command", "there is a \"library\" as well; leave one of them out")
            return nil
        case (let library?, nil):
            return text(
                library, "library", longest: 255,
                "write a path relative to the manifest's folder, without .., such as \"acme.so\"",
                where: Self.isRelativePath
            ).map { .library($0) }
        case (nil, let command?):
            let parts = list(command, "command", most: 64)
            if parts.isEmpty, command.elements?.isEmpty == true {
                report(command, "command", "it is empty; write a program and its arguments")
            }
            let texts = parts.enumerated().compactMap { index, part in
                text(part, "command[\(index)]", longest: 1024)
            }
            guard let program = texts.first, texts.count == parts.count else { return nil }
            guard program.hasBytePrefix("/") || Self.isRelativePath(program) else {
                report(command, "command[0]", "\"\(program)\" is not allowed; write a program without ..")
                return nil
            }
            return .command(texts)
        }
    }

    /// Whether a path stays in the folder to which it is relative.
    static func isRelativePath(_ path: String) -> Bool {
        !path.isEmpty
            && path.split(atByte: "/").allSatisfy {
                !$0.isEmpty && !$0.isSameBytes(as: ".") && !$0.isSameBytes(as: "..")
            }
    }

    private mutating func permissions(_ value: JSONValue?) -> PluginPermissions {
        var permissions = PluginPermissions()
        for (index, element) in list(value, "permissions", most: 16).enumerated() {
            let path = "permissions[\(index)]"
            guard let text = text(element, path, longest: 512) else { continue }
            if text.isSameBytes(as: "network") {
                permissions.network = true
            } else if text.isSameBytes(as: "devices") {
                permissions.devices = true
            } else if text.hasBytePrefix("files:") {
                let file = String(Substring(text.utf8.dropFirst("files:".utf8.count)))
                if Self.isGrantable(file) {
                    permissions.files.append(file)
                } else {
                    report(
                        element, path,
                        "\"\(text)\" is not allowed; name a file or folder by its whole path without .., and for what "
                            + "is in /dev, /proc or /sys ask for \"devices\"")
                }
            } else {
                report(
                    element, path,
                    "there is no permission \"\(text)\"; known are \"network\", \"devices\", \"files:/PATH\"")
            }
        }
        return permissions
    }

    /// Whether a manifest may ask for a file or folder: not for the root folder, nor for the kernel's.
    private static func isGrantable(_ path: String) -> Bool {
        guard path.hasBytePrefix("/"), isRelativePath(String(Substring(path.utf8.dropFirst()))) else { return false }
        let first = path.split(atByte: "/", keepsEmpty: false).first ?? ""
        return !["dev", "proc", "sys"].contains { $0.isSameBytes(as: first) }
    }

    private static let memoryUnits: [(suffix: String, bytes: Int)] = [
        ("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
    ]
    private static let memoryBounds = 32_000_000...68_719_476_736

    private mutating func memory(_ value: JSONValue?) -> Int? {
        guard let value, let text = text(value, "memory", longest: 32) else { return nil }
        for unit in Self.memoryUnits where text.hasByteSuffix(unit.suffix) {
            let digits = text.utf8.dropLast(unit.suffix.utf8.count)
            guard let count = TextBytes.number(digits) else { continue }
            let bytes = count.multiplied(saturatingBy: unit.bytes)
            if Self.memoryBounds.contains(bytes) { return bytes }
            report(value, "memory", "\(text) is out of range; write 32MB to 64GiB")
            return nil
        }
        report(
            value, "memory",
            "\"\(text)\" is not a size; write a whole number with its unit, such as \"512MB\" or \"2GiB\""
        )
        return nil
    }
}
