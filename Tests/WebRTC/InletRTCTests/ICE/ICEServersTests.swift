import InletCore
import Testing

@testable import InletRTC

@Suite struct ICEServersTests {
    static func read(
        stun: String? = nil, turn: String? = nil, user: String? = nil, password: String? = nil, secret: String? = nil,
        isRelayOnly: Bool = false
    ) throws -> ICEServers {
        try ICEServers(
            stun: stun, turn: turn, user: user, password: password, secret: secret, isRelayOnly: isRelayOnly)
    }

    @Test("Addresses are listed with or without their schemes")
    func lists() throws {
        let servers = try Self.read(
            stun: "a:1,stun:b", turn: "c,turns:d,turn:[::1]:5?transport=tcp", user: "u", password: "p")
        #expect(
            servers.list(for: "x", now: 0).map(\.uri) == [
                "stun:a:1", "stun:b:3478", "turn:c:3478", "turns:d:5349", "turn:[::1]:5?transport=tcp",
            ])
        #expect(servers.list(for: "x", now: 0).last?.password == "p")
        #expect(servers.hasRelay)
        #expect(try !Self.read(stun: "a").hasRelay)
    }

    @Test("Each client gets expiring credentials derived from the secret")
    func secret() throws {
        let servers = try Self.read(stun: "s", turn: "h", secret: "north")
        let list = servers.list(for: "viewer", now: 1_700_000_000)
        #expect(list.map(\.uri) == ["stun:s:3478", "turn:h:3478"])
        #expect(list[1].user == "1700086400:viewer")
        #expect(list[1].password == "KjXXRZ8n2EK/ZeUUm6uiwXVLUAA=")
    }

    @Test("No text of a server or of a configuration shows a secret")
    func texts() throws {
        let fixed = try Self.read(turn: "h", user: "ann", password: "north")
        let shared = try Self.read(turn: "h", secret: "north")
        let credentials = RelayCredentials(secret: "north", name: "", now: 0)
        for text in [
            "\(fixed)", "\(shared)", "\(fixed.list(for: "", now: 0))", String(reflecting: shared), "\(credentials)",
            String(reflecting: Optional(fixed)),
        ] {
            #expect(!text.contains("north") && !text.contains(credentials.password), "\(text)")
        }
    }

    @Test("The error for unreachable relays states the consequence: with relay-only the end, else no relay")
    func relayAdvice() throws {
        var servers = try Self.read(stun: "s", turn: "h,turns:g", user: "u", password: "north")
        #expect(
            servers.noRelayWarning
                == "No relay of turn:h:3478, turns:g:5349 provided an address: only paths without a relay are tried. "
                + "It rejects the user and password, which may have expired, or it cannot be reached. Check its log."
        )
        #expect(!servers.noRelayWarning.contains("relay-only"))
        servers.isRelayOnly = true
        #expect(servers.noRelayWarning.contains("(relay-only)"))
        #expect(PeerSessionFailure.noRelay.advice == servers.noRelayWarning)
    }

    static let refusals: [(stun: String?, turn: String?, user: String?, password: String?, secret: String?, Bool)] = [
        ("turn:h", nil, nil, nil, nil, false), (nil, "stun:h", "u", "north", nil, false),
        (nil, "h", nil, nil, nil, false), (nil, "h", "u", nil, nil, false), (nil, "h", nil, "north", nil, false),
        (nil, nil, nil, "north", nil, false), (nil, nil, nil, nil, "north", false),
        (nil, "h", "u", "p", "north", false),
        (nil, "h", nil, nil, "", false), ("s", nil, nil, nil, nil, true), (nil, "u:north@h", "u", "p", nil, false),
        (nil, "h:0", nil, nil, "north", false),
    ]

    @Test("Contradictory settings are refused, and the error holds no secret", arguments: refusals)
    func refuses(
        _ stun: String?, _ turn: String?, _ user: String?, _ password: String?, _ secret: String?, _ isRelayOnly: Bool
    ) {
        #expect {
            try Self.read(
                stun: stun, turn: turn, user: user, password: password, secret: secret, isRelayOnly: isRelayOnly)
        } throws: { error in
            (error as? InletError)?.code == .invalidConfiguration && !"\(error)".contains("north")
        }
    }
}
