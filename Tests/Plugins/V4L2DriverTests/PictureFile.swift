import Foundation
import InletConvert
import InletCore
import ReferenceTools

/// Pictures that the two sides of the virtual machine compare.
enum PictureFile {
    /// The frame as packed I420, made by Inlet's own conversion; nil if that fails.
    static func packed(_ frame: SourceFrame) -> Data? {
        let converter = FrameConverter()
        return try? converter.i420(from: frame, pool: I420BufferPool(capacity: 1)).buffer.packedBytes
    }
}
