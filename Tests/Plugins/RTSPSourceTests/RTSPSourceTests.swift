import ReferenceTools
import Testing

/// The RTSP source against servers, a few tests at a time, because each has its own server and decoder.
@Suite(.tags(.server), .fewAtATime) struct RTSPSourceTests {}
