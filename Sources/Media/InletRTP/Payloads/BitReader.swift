/// Reads bits from a NAL unit, without its emulation prevention bytes: H.264 section 7.3.1, H.265 section 7.3.1.1.
///
/// Beyond the end it reads zeros, and reports this afterwards.
struct BitReader: ~Escapable {
    private let bytes: RawSpan
    private var index = 0
    private var zeros = 0
    private var current: UInt8 = 0
    private var bitsLeft = 0
    /// Whether more bits were read than there are.
    private(set) var isExhausted = false

    @_lifetime(copy bytes)
    init(_ bytes: RawSpan) { self.bytes = bytes }

    @_lifetime(self: copy self)
    mutating func bit() -> Int {
        if bitsLeft == 0 { nextByte() }
        guard bitsLeft > 0 else { return 0 }
        bitsLeft -= 1
        return Int(current >> UInt8(bitsLeft)) & 1
    }

    @_lifetime(self: copy self)
    private mutating func nextByte() {
        if zeros >= 2, index < bytes.byteCount, bytes[index] == 3 {
            index += 1
            zeros = 0
        }
        guard index < bytes.byteCount else {
            isExhausted = true
            return
        }
        current = bytes[index]
        zeros = current == 0 ? zeros + 1 : 0
        index += 1
        bitsLeft = 8
    }

    /// Reads an unsigned number of at most 32 bits.
    @_lifetime(self: copy self)
    mutating func bits(_ count: Int) -> Int {
        var value = 0
        for _ in 0..<count { value = value << 1 | bit() }
        return value
    }

    /// Reads an unsigned Exp-Golomb number, which has at most 32 bits: H.264 section 9.1.
    @_lifetime(self: copy self)
    mutating func exponential() -> Int {
        var count = 0
        while bit() == 0 {
            count += 1
            guard count <= 32, !isExhausted else {
                isExhausted = true
                return 0
            }
        }
        return (1 << count) - 1 + bits(count)
    }

    /// Reads a signed Exp-Golomb number: H.264 section 9.1.1.
    @_lifetime(self: copy self)
    mutating func signedExponential() -> Int {
        let number = exponential()
        return number & 1 == 1 ? (number + 1) / 2 : -(number / 2)
    }
}
