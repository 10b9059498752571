import CInletPlugin
import InletCore

extension inlet_rational {
    /// The ratio; nil if it is unknown or not greater than zero.
    var rational: Rational? {
        guard numerator > 0, denominator > 0 else { return nil }
        return Rational(exactly: Int(numerator), over: Int(denominator))
    }

    /// Makes the ratio from 32-bit numbers; 0/0, which means unknown, for nil.
    init(_ rational: Rational?) {
        guard let rational, let numerator = Int32(exactly: rational.numerator),
            let denominator = Int32(exactly: rational.denominator)
        else {
            self.init(numerator: 0, denominator: 0)
            return
        }
        self.init(numerator: numerator, denominator: denominator)
    }
}
