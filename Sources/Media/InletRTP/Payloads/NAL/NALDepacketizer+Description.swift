/// Information from outside the stream.
extension NALDepacketizer {
    /// Keeps parameter sets of the session description: a NAL unit, which may have start codes before, within and after
    /// it.
    mutating func addDescribed(_ bytes: [UInt8], _ builder: inout AccessUnitBuilder) {
        let span = bytes.rawBytes
        var index = 0
        while index < span.byteCount {
            let code = span.startCode(from: index)
            var end = code
            while end > index, span[end - 1] == 0 { end -= 1 }
            if end - index > 1 {
                let isKept: Bool
                switch (isHEVC, Self.type(span[index], isHEVC: isHEVC)) {
                case (true, 32): isKept = sets.keep(.video, span.extracting(index..<end), isHEVC: true)
                case (false, 7), (true, 33): isKept = sets.keep(.sequence, span.extracting(index..<end), isHEVC: isHEVC)
                case (false, 8), (true, 34): isKept = sets.keep(.picture, span.extracting(index..<end), isHEVC: isHEVC)
                default: isKept = true
                }
                if !isKept { builder.statistics.refusedParameterSets &+= 1 }
            }
            index = code + 3
        }
    }

    /// Discards incomplete data, and counts it as lost.
    mutating func restart(_ builder: inout AccessUnitBuilder) {
        reset(&builder)
        tracker.noteReferenceLoss()
        references.restart()
    }
}
