/// How far a camera is reduced, for people and programs.
package struct Degradation: Sendable, Hashable {
    /// The number of steps that the camera has taken; at least 1.
    package var level: Int
    /// The remaining quality, such as "half the frame rate".
    package var by: String
    /// The reason, in a sentence.
    package var why: String
}
