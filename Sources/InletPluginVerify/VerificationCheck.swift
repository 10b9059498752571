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
        case .manifest: "the manifest can be read, with the line of everything that is wrong in it"
        case .files: "nobody but root and you can change the files, and all that it names is there"
        case .load: "the library loads in the sandbox, and has the interfaces that the manifest promises, and no others"
        case .symbols: "inlet_plugin_entry is the one exported symbol; no executable stack, no relocations in code"
        case .interfaces: "get_interface knows its ids and no others; tables are whole; reserved fields are zero"
        case .initialization: "init takes 50 ms at most, opens nothing, and may be called again; deinit ends it"
        case .items: "a source opens, and yields whole pictures or packets, in order, with times as its pacing says"
        case .cancellation: "open and next return within 100 ms of a cancellation, and leave wake_fd alone"
        case .deadline: "next returns by its deadline, with INLET_AGAIN where there is nothing"
        case .pause: "a source that has pause goes on after resume, and can be closed while it is paused"
        case .errors: "what fails says why in a sentence, and can be closed and destroyed"
        case .leaks: "up to a thousand openings leave no memory, descriptor or thread behind; nor do a thousand items"
        case .lending: "what is lent stays as it is until its release, also past close and destroy"
        case .threads:
            "two instances run at once on two threads; get_slot and callbacks keep to their threads and times"
        case .output: "nothing is written to standard output, and at most 100 lines a second to the log"
        case .options: "a source works with the least and the greatest value of each option, and with each choice"
        case .sizes: "a source with an option of the type size fills odd and small sizes to the last row and column"
        case .permissions: "whether a source works without network or devices, if it asks for them: a remark"
        case .contract: "a source, run as Inlet runs it, keeps the rules of SourceConformance"
        case .sink:
            "a sink takes pictures of odd and of changing size, or packets; reads only those, and finishes in time"
        case .sinkLeaks: "up to a thousand starts of a sink leave no memory, descriptor or thread behind"
        }
    }
}
