/// Stub.
struct Sandbox {
    init(_ arguments: HostArguments) {}
    func apply() throws(PluginFailure) {}
}
/// Stub.
enum Interpreter {
    static func run(_ words: [String], isProbe: Bool) -> PluginFailure { PluginFailure("not yet") }
}
