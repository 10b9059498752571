import CInletExercise
import CInletPlugin
import Glibc
import InletCore
import InletPluginIPC

// Unsafe: drives a plug-in through its C interface.
/// Drives a plug-in through its C interface instead of an instance, for `inlet plugins verify`.
@safe enum PluginExercise {
    /// Runs an exercise, which answers Inlet and ends the process.
    ///
    /// - Parameters:
    ///   - name: one of those of `CInletExercise`.
    ///   - path: the path of the library.
    ///   - configuration: what is opened.
    ///   - isSink: whether it is a sink; otherwise it is a source.
    static func run(_ name: String, library path: String, _ configuration: ConfigurationMemory, isSink: Bool) -> Never {
        // A path without a slash would be searched for in the system's folders.
        let path = path.contains(byte: "/") ? path : "./" + path
        let exercise = UnsafeMutablePointer<inlet_exercise>.allocate(capacity: 1)
        unsafe exercise.initialize(
            to: inlet_exercise(
                name: strdup(name), library: strdup(path), configuration: configuration.configuration,
                is_sink: isSink ? 1 : 0,
                layout: { (format, width, height, places) in
                    unsafe PluginExercise.layOut(format, width, height, places)
                }))
        withExtendedLifetime(configuration) { unsafe inlet_exercise_run(exercise) }
    }

    /// The layout that a slot has.
    private static func layOut(
        _ format: UnsafePointer<CChar>?, _ width: UInt32, _ height: UInt32,
        _ places: UnsafeMutablePointer<inlet_exercise_plane>?
    ) -> Int32 {
        let format = unsafe PluginText.read(format)
        guard let places = unsafe places, PictureLayout.knows(format) else { return -1 }
        guard let layout = PictureLayout(format, width: width, height: height) else { return -2 }
        let planes = layout.planes.prefix(4)
        for (index, plane) in planes.enumerated() {
            unsafe places[index] = inlet_exercise_plane(
                row_bytes: UInt64(plane.rowBytes), rows: UInt64(plane.rows), stride: UInt64(plane.stride))
        }
        return Int32(planes.count)
    }
}
