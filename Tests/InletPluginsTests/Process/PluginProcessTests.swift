import ReferenceTools
import Testing

/// The tests that start processes. One at a time, as some look at everything that this process holds.
@Suite(.serialized, .tags(.process)) struct PluginProcessTests {}
