internal import Glibc

/// The cosine of an angle in turns.
func cosine(turns: Double) -> Double { cos(turns * 2 * .pi) }
