import CLinux

/// Writing of a file's data from memory to the disk.
package enum WriteBack {
    /// Has the system begin to write a part of a file, so that a later wait for the disk is short. Hardly waits itself.
    ///
    /// - Parameters:
    ///   - descriptor: the file.
    ///   - offset: where the part begins.
    ///   - byteCount: its length.
    package static func begin(_ descriptor: Int32, from offset: Int64, byteCount: Int64) {
        inlet_begin_write_back(descriptor, offset, byteCount)
    }
}
