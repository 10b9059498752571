/// One of the checks of a verification. `Docs/reference/plugin-verification.md` describes each.
package enum VerificationCheck: String, Sendable, Hashable, CaseIterable, Codable {
    case manifest
    case files
    case load
    case symbols
    case interfaces
    case initialization = "init"
    case items
    case cancellation
    case deadline
    case pause
    case errors
    case leaks
    case lending
    case threads
    case output
    case options
    case sizes
    case permissions
    case contract
    case sink
    case sinkLeaks = "sink-leaks"

    /// The purpose of the check, in a phrase.
    package var summary: String {
        switch self {
        case .manifest: "the manifest is valid; each mistake is reported with its line"
        case .files: "only root and you can change the files; all files that the manifest names exist"
        case .load: "the library loads in the sandbox, and has exactly the interfaces that the manifest declares"
        case .symbols: "inlet_plugin_entry is the only exported symbol; no executable stack, no relocations in code"
        case .interfaces: "get_interface knows its ids and no others; tables are complete; reserved fields are zero"
        case .initialization: "init takes at most 50 ms, opens nothing, and may be called again, also after deinit"
        case .items: "a source yields complete pictures or packets, in order, with times that match its pacing"
        case .cancellation: "open and next return within 100 ms of a cancellation, and do not read or close wake_fd"
        case .deadline: "next returns by its deadline, with INLET_AGAIN if it has no item"
        case .pause: "a source that can pause continues after resume, and can be closed while it is paused"
        case .errors: "a failed source gives the reason in a sentence, and can be closed and destroyed"
        case .leaks: "up to a thousand openings, and a thousand items, leak no memory, descriptor or thread"
        case .lending: "lent memory does not change until its release, even after close and destroy"
        case .threads:
            "two instances run at once on two threads; callbacks are used only on allowed threads and before destroy"
        case .output: "nothing is written to standard output, and at most 100 lines a second to the log"
        case .options: "a source works with the least and the greatest value of each option, and with each choice"
        case .sizes: "a source with an option of the type size fills odd and small sizes to the last row and column"
        case .permissions: "whether a source works without network or devices, if it asks for them: a remark"
        case .contract: "a source that runs as in inlet run keeps the rules of SourceConformance"
        case .sink:
            "a sink takes pictures of odd and of changing size, or packets, reads only those, and finishes in time"
        case .sinkLeaks: "up to a thousand starts of a sink leak no memory, descriptor or thread"
        }
    }
}
