/// A violation of the protocol by a plug-in.
///
/// The text continues a sentence that begins with the plug-in's name, such as `sent a picture of 0x0 pixels`.
struct PluginLie: Error, Equatable {
    let text: String

    init(_ text: String) { self.text = text }
}
