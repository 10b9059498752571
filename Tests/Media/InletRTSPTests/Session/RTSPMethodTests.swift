import InletRTSP
import Testing

@Suite struct RTSPMethodTests {
    @Test func namesAreThoseOfTheWire() {
        #expect(RTSPMethod(rawValue: "GET_PARAMETER") == .getParameter)
        #expect(RTSPMethod(rawValue: "get_parameter") == nil)
    }
}
