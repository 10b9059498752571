import CSeccomp

/// A rule for the system calls of the given names.
struct SystemCallRule {
    /// The treatment of a call.
    enum Verdict: Sendable {
        /// It is made.
        case allow
        /// It is made if ``ThreadLimit`` allows it.
        case ask
        /// It fails with an errno: programs try it, and do without.
        case refuse(Int32)
        /// It ends the process by SIGSYS: no program tries it in good faith.
        case kill
    }

    /// A condition on one argument of a call, all of whose bits but those of the mask are left out.
    struct Condition: Sendable {
        let argument: UInt32
        let mask: UInt64
        let value: UInt64

        /// The argument has this value.
        static func equal(_ argument: UInt32, _ value: UInt64) -> Condition {
            // The kernel's `int` and `unsigned int` arguments have 32 bits; the bits above them are undefined.
            Condition(argument: argument, mask: 0xFFFF_FFFF, value: value)
        }

        /// These bits of the argument have this value.
        static func masked(_ argument: UInt32, _ mask: UInt64, _ value: UInt64) -> Condition {
            Condition(argument: argument, mask: mask, value: value)
        }

        /// The condition in libseccomp's form.
        var comparison: scmp_arg_cmp {
            scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: mask, datum_b: value)
        }
    }

    /// The names. Names that an architecture does not have are omitted there.
    let names: String
    /// The treatment of the calls.
    let verdict: Verdict
    /// All of them must hold. Empty for every call.
    var conditions: [Condition] = []

    init(_ verdict: Verdict, _ names: String, _ conditions: Condition...) {
        self.names = names
        self.verdict = verdict
        self.conditions = conditions
    }
}
