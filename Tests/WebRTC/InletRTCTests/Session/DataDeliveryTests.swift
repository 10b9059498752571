import Foundation
import InletCore
import InletRTC
import Testing

/// The guarantees of channels, as JSON and checked against the limits, and the message limits in descriptions.
struct DataDeliveryTests {
    private static let table: [(DataDelivery, String)] = [
        (.ordered, #"{"ordered":true}"#), (.unordered, #"{"ordered":false}"#),
        (.lossy, #"{"maxRetransmits":0,"ordered":false}"#),
        (.retransmits(65_535, isOrdered: true), #"{"maxRetransmits":65535,"ordered":true}"#),
        (.lifetime(.milliseconds(1500)), #"{"maxPacketLifeTime":1500,"ordered":false}"#),
    ]

    @Test("A delivery is read and written with the browsers' keys, and a channel with its label")
    func coding() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        for (delivery, text) in Self.table {
            #expect(String(decoding: try encoder.encode(delivery), as: UTF8.self) == text)
            #expect(try JSONDecoder().decode(DataDelivery.self, from: Data(text.utf8)) == delivery)
            let channel = DataChannelParameters("orders", delivery)
            #expect(try JSONDecoder().decode(DataChannelParameters.self, from: encoder.encode(channel)) == channel)
        }
        let short = try JSONDecoder().decode(DataChannelParameters.self, from: Data(#"{"label":"orders"}"#.utf8))
        #expect(short == DataChannelParameters("orders"))
    }

    @Test(
        "Impossible guarantees of a channel are refused",
        arguments: [
            #"{"maxRetransmits":0,"maxPacketLifeTime":1}"#, #"{"maxRetransmits":-1}"#, #"{"maxRetransmits":65536}"#,
            #"{"maxPacketLifeTime":0}"#, #"{"maxPacketLifeTime":65536}"#, #"{"ordered":"yes"}"#,
            #"{"maxPacketLifeTime":9223372036854775807}"#,
        ])
    func refused(_ text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(DataDelivery.self, from: Data(text.utf8)) }
    }

    @Test("Limits refuse impossible bounds of a channel, and messages longer than engines deliver")
    func limits() {
        for delivery in [
            DataDelivery.retransmits(-1), .retransmits(65_536), .lifetime(.zero), .lifetime(.microseconds(1500)),
            .lifetime(.seconds(66)), .lifetime(.seconds(Int64.max)),
        ] {
            let error = #expect(throws: InletError.self) {
                try DataChannelLimits().validate(opening: [DataChannelParameters("orders", delivery)])
            }
            #expect(error?.code == .invalidConfiguration)
        }
        for bytes in [0, 262_145] {
            var limits = DataChannelLimits()
            limits.messageBytes = bytes
            #expect(throws: InletError.self) { try limits.validate() }
        }
    }

    @Test("Messages use the channel of exactly their delivery, else one with the same order and loss")
    func choice() {
        let all: [DataDelivery] = [.retransmits(3), .ordered, .lossy, .lifetime(.milliseconds(20))]
        for (index, delivery) in all.enumerated() { #expect(delivery.index(among: all) == index) }
        #expect(DataDelivery.unordered.index(among: all) == 0)
        #expect(DataDelivery.ordered.index(among: [.lossy]) == nil)
        #expect(DataDelivery.lossy.index(among: [.ordered]) == nil)
    }

    @Test("A description states the maximum message length: 65,536 by default, unlimited if it is 0")
    func stated() {
        func longest(_ lines: String...) -> Int? {
            SessionDescription(kind: .offer, sdp: lines.map { $0 + "\r\n" }.joined(), flow: SignalingFlow("a"))
                .longestMessage
        }
        let (video, data) = ("m=video 9 UDP/TLS/RTP/SAVPF 96", "m=application 9 UDP/DTLS/SCTP webrtc-datachannel")
        #expect(longest(video, data) == 65_536)
        #expect(longest(video, data, "a=max-message-size:262144") == 262_144)
        #expect(longest(data, "a=max-message-size:0", video) == nil)
        #expect(longest(video, "a=max-message-size:5", data) == 65_536)
        #expect(longest(data, "a=max-message-size:-1") == 65_536)
        #expect(longest(data, "a=max-message-size:99999999999999999999") == 65_536)
    }

    @Test("A description accepts data channels if it has a section for them that is not rejected")
    func rejected() {
        func takes(_ lines: String...) -> Bool {
            SessionDescription(kind: .answer, sdp: lines.map { $0 + "\r\n" }.joined(), flow: SignalingFlow("a"))
                .takesMessages
        }
        let video = "m=video 9 UDP/TLS/RTP/SAVPF 96"
        #expect(takes(video, "m=application 9 UDP/DTLS/SCTP webrtc-datachannel"))
        #expect(takes("m=application 50000 UDP/DTLS/SCTP webrtc-datachannel", video))
        #expect(!takes(video, "m=application 0 UDP/DTLS/SCTP webrtc-datachannel"))
        #expect(!takes(video, "m=application 00 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:1"))
        #expect(!takes(video))
        #expect(!takes(""))
    }
}
