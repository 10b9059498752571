/// What a plug-in said or did against the protocol.
///
/// The text continues a sentence that begins with the plug-in's name, such as `sent a picture of 0x0 pixels`.
struct PluginLie: Error, Equatable {
    let text: String

    init(_ text: String) { self.text = text }
}
