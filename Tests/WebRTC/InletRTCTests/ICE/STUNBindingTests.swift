import Testing

@testable import InletRTC

@Suite struct STUNBindingTests {
    /// The response of RFC 5769, section 2.2, with the transaction of another request.
    private static func response(to request: [UInt8]) -> [UInt8] {
        [0x01, 0x01, 0x00, 0x3c] + request[4...] + [
            0x80, 0x22, 0x00, 0x0b, 0x74, 0x65, 0x73, 0x74, 0x20, 0x76, 0x65, 0x63, 0x74, 0x6f, 0x72, 0x20,
            0x00, 0x20, 0x00, 0x08, 0x00, 0x01, 0xa1, 0x47, 0xe1, 0x12, 0xa6, 0x43,
            0x00, 0x08, 0x00, 0x14, 0x2b, 0x91, 0xf5, 0x99, 0xfd, 0x9e, 0x90, 0xc3, 0x8c, 0x74, 0x89, 0xf9, 0x2a, 0xf9,
            0xba, 0x53, 0xf0, 0x6b, 0xe7, 0xd7,
            0x80, 0x28, 0x00, 0x04, 0xc0, 0x7d, 0x4c, 0x96,
        ]
    }

    @Test("A request has RFC 8489's form, and differs from every other")
    func request() {
        let (one, other) = (STUNBinding(), STUNBinding())
        #expect(one.request.count == 20)
        #expect(one.request.prefix(8).elementsEqual([0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42]))
        #expect(one.request != other.request)
    }

    @Test("The RFC's response is accepted; one to another request, cut, changed or without an address is not")
    func answers() {
        let binding = STUNBinding()
        let response = Self.response(to: binding.request)
        #expect(binding.isAnswered(by: response))
        #expect(!STUNBinding().isAnswered(by: response))
        for count in response.indices { #expect(!binding.isAnswered(by: Array(response.prefix(count))), "\(count)") }
        var changed = response
        changed[1] = 0x11
        #expect(!binding.isAnswered(by: changed))
        // A response without attributes has no address.
        #expect(!binding.isAnswered(by: [1, 1, 0, 0] + binding.request[4...]))
        // An attribute is longer than the message.
        #expect(!binding.isAnswered(by: [1, 1, 0, 4] + binding.request[4...] + [0x80, 0x22, 0xff, 0xff]))
        #expect(!binding.isAnswered(by: binding.request))
    }
}
