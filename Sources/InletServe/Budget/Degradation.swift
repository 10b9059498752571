/// How far a camera is reduced, for people and programs.
package struct Degradation: Sendable, Hashable {
    /// The number of steps that it has taken; at least 1.
    package var level: Int
    /// What is left, such as "half the frame rate".
    package var by: String
    /// Why, in a sentence.
    package var why: String
}
