import ReferenceTools
import Testing

/// Network sources against real servers, one test at a time: each test's servers, encoders and decoder share two cores.
@Suite(.tags(.server), .serialized, .blocking) struct NetworkTests {}
