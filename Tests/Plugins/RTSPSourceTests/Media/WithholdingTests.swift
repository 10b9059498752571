import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// A picture is delivered once it is complete, and not when the next one arrives: the server sends one only after
    /// the last was received. Runs by itself, because a sender that is silent for half a second may be regarded as
    /// gone.
    @Suite(.alone) struct WithholdingTests {
        /// More pictures than any rule about a sender's markers needs to learn.
        private static let count = 20
        /// Far longer than any wait within the source, and shorter than its time-outs.
        private static let patience = Duration.seconds(8)

        private static let inConnections = RTSPScript.Mutation.allCases.filter {
            ![.cutBytes, .loss, .duplicate, .reorder].contains($0)
        }
        private static let inDatagrams = RTSPScript.Mutation.allCases.filter {
            ![.cutBytes, .loss, .strayReplies].contains($0)
        }

        private func expectUnits(
            _ mutations: [RTSPScript.Mutation], _ transport: RTSPScript.Transport, _ kind: ScriptClip.Kind,
            decodes: Bool
        ) async throws {
            let clip = try ScriptClip.of(kind)
            var options = clip.options
            options.mutations = mutations
            options.transport = transport
            options.isWithholding = true
            let server = try RTSPScript(options)
            let run = SourceRun(
                .test(server.url) {
                    $0.transport = transport == .udp ? .udp : .tcp
                    $0.readTimeout = .seconds(30)
                    $0.firstTimeout = .seconds(30)
                }, decodes: decodes, limit: Self.patience)
            // Two pictures prove that a sender sets no markers.
            let learned = mutations.contains(.markerNever) ? 2 : 0
            // The reply to PLAY may follow the first picture.
            try server.next(1 + learned)
            _ = try await run.open()
            for index in 0..<Self.count {
                if index > learned { try server.next() }
                let item = try await run.next()
                if decodes {
                    let picture = try #require(item?.frame)
                    #expect(clip.sums.firstIndex(of: SourceRun.sum(of: picture)) == index, "\(mutations)")
                } else {
                    #expect(item?.packet?.isKey == (index % 8 == 0), "\(mutations), unit \(index)")
                }
            }
            #expect(server.sent.count <= Self.count)
            try await run.close()
        }

        @Test(
            "Over TCP an access unit is delivered before a byte of the next is sent", arguments: inConnections,
            [ScriptClip.Kind.slices, .small])
        func overTCP(_ mutation: RTSPScript.Mutation, _ kind: ScriptClip.Kind) async throws {
            try await expectUnits([mutation], .tcp, kind, decodes: false)
        }

        @Test("Over UDP an access unit is delivered before a byte of the next is sent", arguments: inDatagrams)
        func overUDP(_ mutation: RTSPScript.Mutation) async throws {
            try await expectUnits([mutation], .udp, .slices, decodes: false)
        }

        @Test(
            "The decoded picture is delivered before a byte of the next is sent, too, and is the right one",
            arguments: [
                [], [.markerNever], [.markerSlices], [.markerParameters], [.fragmentsWithoutEnd],
                [.annexBInFragment, .markerNever], [.annexBInFragment],
                [.parametersPreviousTime, .markerParameters],
                [.foreignSSRC, .foreignType], [.oneByte, .fragmentsWithoutEnd], [.timeJump],
            ] as [[RTSPScript.Mutation]])
        func decoded(_ mutations: [RTSPScript.Mutation]) async throws {
            try await expectUnits(mutations, .tcp, .slices, decodes: true)
        }

        @Test("The key frame before the answer to PLAY is kept", arguments: [RTSPScript.Transport.tcp, .udp])
        func earlyPicture(_ transport: RTSPScript.Transport) async throws {
            try await expectUnits([.earlyPicture], transport, .slices, decodes: true)
        }

        @Test(
            "The last picture before the server hangs up is delivered, even if it lacks the marker",
            arguments: [[], [.markerNever], [.fragmentsWithoutEnd]] as [[RTSPScript.Mutation]])
        func last(_ mutations: [RTSPScript.Mutation]) async throws {
            let clip = try ScriptClip.of(.slices)
            var options = clip.options
            options.mutations = mutations
            options.isWithholding = true
            let server = try RTSPScript(options)
            let run = SourceRun(.test(server.url))
            try server.next(4)
            _ = try await run.open()
            try await Waiting.until("the last picture", progress: { server.sent.count }) { server.sent.contains(3) }
            server.stop()
            var sums: [String] = []
            var failure: InletError?
            do {
                while let frame = try await run.next()?.frame { sums.append(SourceRun.sum(of: frame)) }
            } catch let error as InletError {
                failure = error
            }
            try await run.close()
            #expect(clip.places(of: sums) == [0, 1, 2, 3])
            #expect(failure?.code == .disconnected, "\(failure.map { "\($0)" } ?? "the end")")
        }
    }
}
