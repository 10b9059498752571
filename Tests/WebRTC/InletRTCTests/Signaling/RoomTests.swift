import InletCore
import Testing

@testable import InletRTC

/// The members of a room and the states of their tracks.
@Suite struct RoomTests {
    private let (anna, ben): (PeerID, PeerID)
    private let on = [RoomTrack(name: "camera", isOn: true)]
    private let off = [RoomTrack(name: "camera", isOn: false)]

    init() throws { (anna, ben) = (try PeerID("anna"), try PeerID("ben")) }

    @Test("Late, duplicate and reordered track lists change nothing, and a peer that sends a message is present")
    func roster() {
        var roster = RoomRoster(most: 2)
        #expect(roster.tracks(on, number: 2, of: anna) == [.joined(anna), .tracks(anna, on)])
        #expect(roster.tracks(on, number: 2, of: anna) == [])
        #expect(roster.tracks(off, number: 1, of: anna) == [])
        #expect(roster.tracks(off, number: 3, of: anna) == [.tracks(anna, off)])
        #expect(roster.reset(anna) == [.tracks(anna, [])])
        #expect(roster.tracks(on, number: 1, of: anna) == [.tracks(anna, on)])
        #expect(roster.present([ben]) == [.left(anna), .joined(ben)])
        #expect(roster.left(anna) == [])
    }

    @Test("A room has a limited number of participants and tracks")
    func bounds() throws {
        var roster = RoomRoster(most: 3)
        let many = (0..<100).map { RoomTrack(name: "\($0)", isOn: true) }
        for number in 0..<100 { _ = roster.tracks(many, number: 1, of: try PeerID("peer-\(number)")) }
        #expect(roster.participants.count == 3)
        #expect(roster.participants.allSatisfy { $0.tracks.count == RoomTrack.most })
    }

    @Test("Room members are notified of members that join, tracks that are on, and members that leave")
    func service() async throws {
        let local = LocalSignalingRoom()
        let (atAnna, atBen) = (try local.enter(as: anna), try local.enter(as: ben))
        let (annas, bens) = (Room(atAnna), Room(atBen))
        let (ofAnna, ofBen) = (annas.events(), bens.events())
        await annas.publish(on)
        await bens.publish(off)
        func wait(_ events: AsyncStream<RoomEvent>, for wanted: RoomEvent) async {
            for await event in events where event == wanted { return }
        }
        await wait(ofBen, for: .tracks(anna, on))
        await wait(ofAnna, for: .tracks(ben, off))
        await annas.publish(off)
        await wait(ofBen, for: .tracks(anna, off))
        #expect(await bens.participants == [RoomParticipant(id: anna, tracks: off)])
        await annas.close()
        await atAnna.close()
        await wait(ofBen, for: .left(anna))
        await bens.close()
        await atBen.close()
    }

    @Test("The JSON form of tracks is read as it was written; too many are an error")
    func json() throws {
        let message = CallMessage(.room, .tracks(on + off, number: 7))
        let envelope = SignalingEnvelope(from: anna, to: ben, .call(message))
        #expect(try SignalingEnvelope(json: Array(envelope.json.utf8)) == envelope)
        let track = #"{"name":"camera","on":true}"#
        let many = Array(repeating: track, count: RoomTrack.most + 1).joined(separator: ",")
        for text in [
            #"{"type":"tracks","call":"room","tracks":[\#(track)]}"#,
            #"{"type":"tracks","call":"room","number":1,"tracks":{}}"#,
            #"{"type":"tracks","call":"room","number":1,"tracks":[\#(many)]}"#,
            #"{"type":"tracks","call":"room","number":1,"tracks":[{"name":"camera"}]}"#,
            #"{"type":"tracks","call":"room","number":1,"tracks":[{"name":"\#(String(repeating: "a", count: 65))","on":true}]}"#,
        ] {
            #expect(throws: InletError.self, "\(text)") { try SignalingEnvelope(json: Array(text.utf8)) }
        }
    }
}
