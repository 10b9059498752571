import ReferenceTools
import Testing

/// The RTSP source against servers, a few tests at a time, as each has a server and a decoder of its own.
@Suite(.tags(.server), .fewAtATime) struct RTSPSourceTests {}
