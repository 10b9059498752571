import ReferenceTools
import Testing

/// The tests that start processes. They run one at a time, because some check everything that this process holds.
@Suite(.serialized, .tags(.process)) struct PluginProcessTests {}
