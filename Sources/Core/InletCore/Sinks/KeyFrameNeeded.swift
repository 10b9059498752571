/// Thrown by a packet sink that did not accept a packet because it must begin with a key frame: a file was started in
/// the middle of a group of pictures. The packet counts as dropped, and those that follow are dropped up to a key
/// frame, which is requested.
public struct KeyFrameNeeded: Error, Sendable {
    public init() {}
}
