import ReferenceTools
import Testing

/// Network sources against real servers, one test at a time: each has servers, encoders and a decoder of its own to
/// share two cores with.
@Suite(.tags(.server), .serialized, .blocking) struct NetworkTests {}
