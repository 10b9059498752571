/// Thrown by a packet sink that did not take a packet, as it has to begin with a key frame: a file was begun anew in
/// the middle of a group of pictures. The packet counts as dropped, and those that follow are dropped up to a key
/// frame, which is asked for.
public struct KeyFrameNeeded: Error, Sendable {
    public init() {}
}
