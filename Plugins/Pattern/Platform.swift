#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The cosine of an angle in turns.
func cosine(turns: Double) -> Double { cos(turns * 2 * .pi) }
