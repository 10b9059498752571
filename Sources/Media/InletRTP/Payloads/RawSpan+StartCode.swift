/// Start codes of Annex B: H.264 section B.1, H.265 section B.1.
extension RawSpan {
    /// Returns the index of the first 00 00 01 from `start` on; the end if it is not found.
    func startCode(from start: Int) -> Int {
        let end = byteCount
        var index = start + 2
        while index < end {
            let byte = self[index]
            if byte > 1 {
                index += 3
            } else if byte == 1 {
                if self[index - 1] == 0, self[index - 2] == 0 { return index - 2 }
                index += 3
            } else {
                index += 1
            }
        }
        return end
    }
}
