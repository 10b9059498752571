import CInletPlugin
import InletCore

extension inlet_color {
    /// Makes the codes of a colour space.
    init(_ color: ColorSpace) {
        let range: UInt8 =
            switch color.range {
            case .unspecified: 0
            case .limited: 1
            case .full: 2
            }
        self.init(
            primaries: color.primaries.rawValue, transfer: color.transfer.rawValue, matrix: color.matrix.rawValue,
            range: range)
    }
}
