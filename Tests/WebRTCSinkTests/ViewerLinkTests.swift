#if WebRTC
    import ReferenceTools
    import Testing

    /// A viewer behind a link whose rate the kernel limits. How fast the rate follows is measured by the script, not judged here.
    @Suite(.serialized) struct ViewerLinkTests {
        private struct Seen: Decodable {
            struct Step: Decodable {
                var kbps: Double
                var meantKbps: [Double]
                var pictures: Int
            }
            var steps: [Step]
            var unread: Int
            var error: String?
        }

        private static let hasNamespaces =
            (try? ReferenceCommand.run("unshare", ["-n", "tc", "qdisc", "show"])) != nil

        @Test(
            "Where a link gets slower, what is meant for its viewer comes to fit, and pictures go on",
            .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"),
            .enabled(
                if: hasNamespaces, "network namespaces cannot be made here; that needs root and the tools ip and tc"))
        func slower() async throws {
            let seen: Seen = try await ViewerRun.peer(
                "whep-links.py", python: "/usr/bin/python3",
                [
                    "--inlet", BuiltProgram.inlet, "--viewer", "chromium", "--size", "640x480", "--steps",
                    "4:5000,12:500", "--json",
                ])
            #expect(seen.error == nil)
            let (fast, slow) = (try #require(seen.steps.first), try #require(seen.steps.last))
            #expect(fast.meantKbps.contains { $0 > 500 })
            #expect(slow.meantKbps.contains { $0 <= 500 })
            // While the size changes, and where few bits are left, some are too blurred to be read.
            #expect(fast.pictures > 0 && slow.pictures > 0)
            #expect(seen.unread * 10 < fast.pictures + slow.pictures)
        }
    }
#endif
