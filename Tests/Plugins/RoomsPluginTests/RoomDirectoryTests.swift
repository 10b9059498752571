import InletCore
import InletRTC
import Testing

@testable import RoomsPlugin

/// The members of rooms, and the routing of messages.
@Suite struct RoomDirectoryTests {
    private static let now = MonotonicTime(nanoseconds: 0)

    private static func join(
        _ directory: inout RoomDirectory, in room: String = "r", _ name: String, _ number: Int
    ) throws -> [RoomDirectory.Action] { try join(&directory, in: room, name, "1", number) }

    private static func join(
        _ directory: inout RoomDirectory, in room: String = "r", _ name: String, _ instance: String, _ number: Int
    ) throws -> [RoomDirectory.Action] {
        directory.join(room, as: try PeerID(name), try SignalingInstance(instance), number: number)
    }

    private static func take(
        _ directory: inout RoomDirectory, _ text: String, from number: Int, at time: MonotonicTime = now
    ) -> [RoomDirectory.Action] { directory.take(Array(text.utf8), from: number, at: time) }

    @Test("Members learn who is present in, joins and leaves their room, and nothing of other rooms")
    func presence() throws {
        var directory = RoomDirectory(RoomLimits())
        #expect(
            try Self.join(&directory, "ann", 1) == [.send(#"{"type":"welcome","peer":"ann","peers":[]}"#, to: 1)])
        _ = try Self.join(&directory, in: "other", "cy", 9)
        #expect(
            try Self.join(&directory, "ben", "b", 2) == [
                .send(#"{"type":"welcome","peer":"ben","peers":[{"peer":"ann","instance":"1"}]}"#, to: 2),
                .send(#"{"type":"joined","peer":"ben","instance":"b"}"#, to: 1),
            ])
        #expect(directory.leave(2) == [.send(#"{"type":"left","peer":"ben","instance":"b"}"#, to: 1)])
        #expect(directory.leave(2).isEmpty)
        #expect(directory.leave(1).isEmpty && directory.count == 1)
    }

    @Test("A message goes to the member that it names, or to all others; the server adds the sender")
    func routing() throws {
        var directory = RoomDirectory(RoomLimits())
        for (number, name) in ["ann", "ben", "cy"].enumerated() { _ = try Self.join(&directory, name, number) }
        #expect(
            Self.take(&directory, #"{"type":"bye","to":"cy","from":"ben","instance":"x"}"#, from: 0)
                == [.send(#"{"type":"bye","to":"cy","from":"ann","instance":"1"}"#, to: 2)])
        let all = #"{"type":"any","x":[1],"from":"ann","instance":"1"}"#
        #expect(Self.take(&directory, #"{"type":"any","x":[1]}"#, from: 0) == [.send(all, to: 1), .send(all, to: 2)])
        #expect(Self.take(&directory, #"{"type":"bye","to":"dan"}"#, from: 0).isEmpty)
        #expect(Self.take(&directory, #"{"type":"bye","to":"ann"}"#, from: 0).isEmpty)
        #expect(Self.take(&directory, #"{"type":"bye"}"#, from: 77).isEmpty)
    }

    @Test(
        "An unreadable message, or one that only the server sends, ends the membership",
        arguments: [
            "", "{", "[]", "{}", #"{"type":"welcome"}"#, #"{"type":"iceServers","iceServers":[]}"#,
            #"{"type":"left","peer":"ben"}"#, #"{"type":"a","to":"b c"}"#,
        ])
    func malformed(_ text: String) throws {
        var directory = RoomDirectory(RoomLimits())
        _ = try Self.join(&directory, "ann", 1)
        _ = try Self.join(&directory, "ben", 2)
        let actions = Self.take(&directory, text, from: 1)
        #expect(actions.first == .send(#"{"type":"left","peer":"ann","instance":"1"}"#, to: 2))
        guard case .refuse(1, let refusal)? = actions.last else {
            Issue.record("\(actions)")
            return
        }
        #expect(refusal.reason == .malformed && directory.count == 1)
    }

    @Test("A used name is refused and its owner probed; the same instance replaces itself unnoticed")
    func names() throws {
        var directory = RoomDirectory(RoomLimits())
        _ = try Self.join(&directory, "ann", "1", 1)
        _ = try Self.join(&directory, "ben", "b", 2)
        let refused = try Self.join(&directory, "ann", "2", 3)
        guard case .refuse(3, let refusal)? = refused.first else {
            Issue.record("\(refused)")
            return
        }
        #expect(refusal.reason == .taken && refused.last == .probe(1))
        let again = try Self.join(&directory, "ann", "1", 4)
        guard case .refuse(1, let replaced)? = again.first else {
            Issue.record("\(again)")
            return
        }
        #expect(replaced.reason == .replaced && again.count == 2)
        // The end of the old connection is not reported.
        #expect(directory.leave(1).isEmpty)
        #expect(Self.take(&directory, #"{"type":"bye","to":"ann"}"#, from: 2).count == 1)
    }

    @Test("Rooms, members and the rate of messages are limited")
    func limits() throws {
        var limits = RoomLimits()
        (limits.rooms, limits.members, limits.messagesPerSecond) = (1, 2, 5)
        var directory = RoomDirectory(limits)
        func reason(_ actions: [RoomDirectory.Action]) -> RoomRefusal.Reason? {
            for case .refuse(_, let refusal) in actions { return refusal.reason }
            return nil
        }
        #expect(try reason(Self.join(&directory, "ann", 1)) == nil)
        #expect(try reason(Self.join(&directory, in: "other", "ann", 2)) == .full)
        #expect(try reason(Self.join(&directory, "ben", 3)) == nil)
        #expect(try reason(Self.join(&directory, "cy", 4)) == .full)
        for _ in 0..<20 { #expect(reason(Self.take(&directory, #"{"type":"a"}"#, from: 1)) == nil) }
        let later = Self.now + .milliseconds(200)
        #expect(reason(Self.take(&directory, #"{"type":"a"}"#, from: 1, at: later)) == nil)
        #expect(reason(Self.take(&directory, #"{"type":"a"}"#, from: 1, at: later)) == .flood)
        #expect(directory.count == 1)
    }

    @Test("Each member gets the servers with separate credentials, and new ones when they are due")
    func servers() throws {
        let bare = RoomDirectory(RoomLimits())
        #expect(bare.renewServers(of: 1).isEmpty)
        var directory = RoomDirectory(RoomLimits()) { id in
            (try? ICEServer("turn:h", user: "9:\(id)", password: "p")).map { [$0] } ?? []
        }
        let list = #""iceServers":[{"urls":["turn:h:3478"],"username":"9:ann","credential":"p"}]}"#
        #expect(
            try Self.join(&directory, "ann", 1)
                == [.send(#"{"type":"welcome","peer":"ann","peers":[],"# + list, to: 1)])
        #expect(directory.renewServers(of: 1) == [.send(#"{"type":"iceServers","# + list, to: 1)])
        #expect(directory.renewServers(of: 2).isEmpty)
    }

    @Test("A member without a name gets a free one")
    func guests() throws {
        var directory = RoomDirectory(RoomLimits())
        _ = try Self.join(&directory, "guest-7", 1)
        let actions = directory.join("r", as: nil, SignalingInstance(), number: 7)
        #expect(
            actions.first
                == .send(
                    #"{"type":"welcome","peer":"guest-1","peers":[{"peer":"guest-7","instance":"1"}]}"#, to: 7))
    }

    @Test("The path names the room")
    func paths() {
        for (path, room) in [
            ("/a", "a"), ("/", nil), ("", nil), ("a", nil), ("/a/b", nil), ("/a%20b", "a%20b"), ("/a b", nil),
            ("/" + String(repeating: "a", count: 129), nil),
        ] as [(String, String?)] { #expect(RoomDirectory.room(inPath: path) == room) }
    }

    @Test("The end is reported to every member")
    func end() throws {
        var directory = RoomDirectory(RoomLimits())
        for number in 1...3 { _ = try Self.join(&directory, "m\(number)", number) }
        #expect(directory.end().count == 3 && directory.count == 0)
    }
}
