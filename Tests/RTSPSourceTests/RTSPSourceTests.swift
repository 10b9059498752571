import ReferenceTools
import Testing

/// The RTSP source against servers, one test at a time: each has a server and a decoder of its own to share the
/// processors with.
@Suite(.tags(.server), .serialized) struct RTSPSourceTests {}
