// Unsafe: passes a value between threads, which one thread at a time uses.
/// A value on its way from one thread to another.
///
/// `@unchecked Sendable`: the creator releases the value, or waits for the end of the other thread before it uses the
/// value again; so one thread at a time has it.
package struct Handover<Value>: @unchecked Sendable {
    /// The value, for the thread that takes it over.
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
