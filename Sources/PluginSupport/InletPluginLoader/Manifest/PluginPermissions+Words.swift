extension PluginPermissions {
    /// The plug-in's permissions in words, a phrase each; never empty.
    public var words: [String] {
        var words: [String] = []
        if network { words.append("may use the network") }
        if devices { words.append("may use devices: all that this user may open in /dev") }
        words += files.map { "may read and write \($0)" }
        return words.isEmpty ? ["may compute: it gets no network, no devices and no files of this user"] : words
    }
}
