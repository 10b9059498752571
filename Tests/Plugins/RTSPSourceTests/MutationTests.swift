import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// Every unusual behaviour of a server, compared with the `ffmpeg` command's decoding of the file that it sends.
    @Suite struct MutationTests {
        /// The mutations after which some pictures are missing.
        private static let lossy: Set<RTSPScript.Mutation> = [.cutBytes, .loss, .markerSlices]
        private static let datagramsOnly: Set<RTSPScript.Mutation> = [.loss, .duplicate, .reorder]
        private static let connectionOnly: Set<RTSPScript.Mutation> = [.cutBytes, .strayReplies]
        private static let harmless = RTSPScript.Mutation.allCases.filter { !lossy.contains($0) }

        private func run(
            _ mutations: [RTSPScript.Mutation], _ transport: RTSPScript.Transport, _ kind: ScriptClip.Kind,
            count: Int?, _ change: (inout RTSPScript.Options) -> Void = { _ in }
        ) async throws -> (pictures: [String], run: SourceRun, clip: ScriptClip) {
            let clip = try ScriptClip.of(kind)
            var options = clip.options
            options.mutations = mutations
            options.transport = transport
            // Over UDP the source waits for a missing packet for half the time between pictures. If a packet is only
            // late, that must be longer than the server may be delayed.
            options.frameRate = transport == .udp ? mutations.contains(.reorder) ? 16 : 50 : 100
            change(&options)
            let server = try RTSPScript(options)
            let run = SourceRun(
                .test(server.url) {
                    $0.transport = transport == .udp ? .udp : .tcp
                    $0.readTimeout = count == nil ? .seconds(1) : .seconds(5)
                })
            return (try await run.pictures(count), run, clip)
        }

        @Test(
            "Over TCP every picture arrives as in the file",
            arguments: harmless.filter { !datagramsOnly.contains($0) }, [ScriptClip.Kind.slices, .small])
        func overTCP(_ mutation: RTSPScript.Mutation, _ kind: ScriptClip.Kind) async throws {
            let (pictures, run, clip) = try await run([mutation], .tcp, kind, count: 40)
            #expect(clip.places(of: pictures) == Array(0..<40), "\(run.log.text)")
        }

        @Test(
            "Over UDP every picture arrives as in the file",
            arguments: harmless.filter { !connectionOnly.contains($0) }, [ScriptClip.Kind.slices, .small])
        func overUDP(_ mutation: RTSPScript.Mutation, _ kind: ScriptClip.Kind) async throws {
            let (pictures, run, clip) = try await run([mutation], .udp, kind, count: 40)
            #expect(clip.places(of: pictures) == Array(0..<40), "\(run.log.text)")
        }

        @Test(
            "Lost datagrams cost pictures, and never show a wrong one", arguments: 1...4,
            [ScriptClip.Kind.slices, .small])
        func loss(_ seed: Int, _ kind: ScriptClip.Kind) async throws {
            let (pictures, run, clip) = try await run([.loss], .udp, kind, count: nil) {
                $0.seed = seed
                $0.percent = kind == .slices ? 1 : 5
            }
            expectPart(pictures, of: clip, run, atLeast: 5)
        }

        @Test(
            "Missing bytes in a connection cost pictures, and never show a wrong one",
            arguments: [ScriptClip.Kind.slices, .small])
        func cut(_ kind: ScriptClip.Kind) async throws {
            let (pictures, run, clip) = try await run([.cutBytes], .tcp, kind, count: nil)
            // One of ten pictures is truncated, and is missing with the rest of its group of eight.
            expectPart(pictures, of: clip, run, atLeast: 20)
            #expect(!clip.places(of: pictures).contains(9))
        }

        @Test(
            "A sender that marks every slice as the last costs groups of pictures at first, and never shows a part of one",
            arguments: [
                ([.markerSlices], .tcp, 16), ([.markerSlices], .udp, 16), ([.markerSlices, .oneByte], .tcp, 8),
            ]
                as [([RTSPScript.Mutation], RTSPScript.Transport, Int)])
        func sliceMarkers(
            _ mutations: [RTSPScript.Mutation], _ transport: RTSPScript.Transport, _ least: Int
        ) async throws {
            let (pictures, run, clip) = try await run(mutations, transport, .slices, count: nil)
            // The number lost before the sender's behaviour is known depends on this machine's pauses between slices.
            expectPart(pictures, of: clip, run, atLeast: least, atMost: 40)
        }

        @Test(
            "A number of slices that varies, with true markers or one on each slice, costs no more than at first",
            arguments: [[], [.markerSlices], [.markerNever], [.oneByte], [.markerSlices, .oneByte]]
                as [[RTSPScript.Mutation]], [RTSPScript.Transport.tcp, .udp])
        func varyingSlices(_ mutations: [RTSPScript.Mutation], _ transport: RTSPScript.Transport) async throws {
            let learns = mutations.contains(.markerSlices)
            let (pictures, run, clip) = try await run(mutations, transport, .varying, count: learns ? nil : 40) {
                $0.frameRate = 50
            }
            // Byte by byte, the pauses within pictures are as long as those between them.
            if learns, mutations.contains(.oneByte) {
                return expectPart(pictures, of: clip, run, atLeast: 8, atMost: 40)
            }
            let places = clip.places(of: pictures)
            // Only the sender's pauses within the first pictures may cost some, which depends on this machine.
            #expect(Array(places.suffix(24)) == Array(16..<40), "\(places) \(run.log.text)")
            if !learns { #expect(places == Array(0..<40)) }
        }

        /// Expects pictures of the clip in order, some of them missing.
        private func expectPart(
            _ pictures: [String], of clip: ScriptClip, _ run: SourceRun, atLeast least: Int, atMost most: Int = 39
        ) {
            let places = clip.places(of: pictures)
            #expect(!places.contains(nil), "\(places) \(run.log.text)")
            let known = places.compactMap(\.self)
            #expect(zip(known, known.dropFirst()).allSatisfy { $0 < $1 }, "\(known)")
            #expect((least...most).contains(known.count), "\(known)")
        }
    }
}
