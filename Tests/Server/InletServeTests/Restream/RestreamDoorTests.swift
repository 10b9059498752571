import InletCore
import InletHTTPServer
import InletServe
import InletSystem
import Logging
import Testing

/// The limits of the RTSP server for connections, passwords and requests.
@Suite struct RestreamDoorTests {
    private static let long = "wall-token-0123456789abcdef"

    private static func door(
        connections: Int = 4, clients: ClientLedger = ClientLedger()
    ) -> RestreamDoor {
        RestreamDoor(
            users: ["short": "short-pass", "wall": long], connections: connections, clients: clients,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("A new connection replaces the longest-waiting one, but none with an allowed request")
    func places() throws {
        let door = Self.door(connections: 2)
        let first = try #require(door.admit("192.0.2.1"))
        let second = try #require(door.admit("192.0.2.2"))
        #expect(first.replaced == nil && second.replaced == nil)
        door.allow(first.id)
        let third = try #require(door.admit("192.0.2.3"))
        #expect(third.replaced == second.id)
        door.allow(third.id)
        #expect(door.admit("192.0.2.4") == nil)
        // The end of the replaced connection frees no other place.
        door.leave(second.id)
        #expect(door.admit("192.0.2.4") == nil)
        door.leave(first.id)
        #expect(try #require(door.admit("192.0.2.4")).replaced == nil)
    }

    @Test("A client has 32 connections without an allowed request, and an IPv6 network is one client")
    func crowd() throws {
        let door = Self.door(connections: 1000)
        let numbers = try (1...32).map { try #require(door.admit("2001:db8::\($0)")).id }
        let next = try #require(door.admit("2001:db8::ffff:1%eth0"))
        #expect(next.replaced == numbers[0])
        #expect(try #require(door.admit("2001:db8:0:1::1")).replaced == nil)
        door.allow(numbers[1])
        #expect(try #require(door.admit("2001:db8::99")).replaced == nil)
    }

    @Test("After ten wrong passwords only long ones are checked, at both servers; other clients are not affected")
    func guesses() throws {
        let clients = ClientLedger()
        let door = Self.door(clients: clients)
        let (guesser, other) = (try #require(door.admit("192.0.2.1")).id, try #require(door.admit("192.0.2.2")).id)
        for _ in 0..<20 { #expect(door.wait(for: .expired("short"), on: guesser) == nil) }
        for _ in 0..<10 { #expect(door.wait(for: .wrong, on: guesser) == nil) }
        // The answer does not depend on whether a password is right.
        for login in [RestreamDoor.Login.wrong, .right("short"), .expired("short")] {
            #expect(try #require(door.wait(for: login, on: guesser)) > .seconds(50))
        }
        for login in [RestreamDoor.Login.none, .right("wall"), .expired("wall")] {
            #expect(door.wait(for: login, on: guesser) == nil)
        }
        #expect(door.wait(for: .right("short"), on: other) == nil && door.wait(for: .wrong, on: other) == nil)
        let now = MonotonicTime.now
        #expect(clients.noteSecrets(wrong: 0, isGuessable: true, from: ClientAddress("192.0.2.1"), at: now) != nil)
    }

    @Test("Requests are counted by address before a login, and by user after it")
    func rates() throws {
        let door = Self.door(clients: ClientLedger(RequestRates(perClient: 1, perToken: 2)))
        let id = try #require(door.admit("192.0.2.1")).id
        for _ in 0..<5 { #expect(door.wait(for: .none, on: id) == nil) }
        #expect(door.wait(for: .right("wall"), on: id) != nil)
        let known = try #require(door.admit("192.0.2.2")).id
        door.allow(known)
        for _ in 0..<10 { #expect(door.wait(for: .right("wall"), on: known) == nil) }
        #expect(door.wait(for: .right("wall"), on: known) != nil)
    }
}
