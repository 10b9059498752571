import Foundation
import Inlet
import InletHTTPServer
import InletSystem
import InletTesting
import NIOCore
import NIOHTTP1
import ReferenceTools
import Testing

@testable import InletServe

@Suite(.fewDaemons, .takes(atMostMinutes: 1)) struct ReadinessTests {
    @Test("The daemon reports readiness once its cameras are started, working or not, and withdraws it when it ends")
    func readiness() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("cameras.yaml")
        try Data("server: {listen: '127.0.0.1:0'}\ncameras:\n  absent: rtsp://127.0.0.1:1/x\n".utf8)
            .write(to: URL(fileURLWithPath: path))
        let registry = Recorders().registry
        let cameraSet = CameraSet(registry: registry, spread: .zero, logger: silent)
        let keeper = try ConfigurationKeeper(
            path: path, reader: ConfigurationReader(registry: registry), cameraSet: cameraSet, logger: silent)
        let listener = HTTPListener()
        defer { listener.stop() }
        let responder = ServeResponder(
            cameraSet: cameraSet, keeper: keeper, loop: listener.loop, events: EventHub(listener.loop),
            settings: await keeper.server, requiresToken: false, streams: StreamCount(most: 1),
            audit: try AuditLog(path: nil, logger: silent) { _ in }, webhooks: WebhookHub(logger: silent), search: nil,
            makeWebRTC: nil, logger: silent)
        func ask(_ route: ServeRoute) async -> String {
            let answer = await responder.answer(to: route, isTrial: false, visible: .all)
            return String(buffer: answer.body).replacing("\n", with: " ") + "\(answer.status.code)"
        }
        #expect(await ask(.readiness) == "The cameras have not started yet 503")
        #expect(await ask(.health) == "alive 200")
        await keeper.start()
        #expect(await ask(.readiness) == "0 of 1 cameras are healthy 200")
        // The first service that ends reports it, before the cameras end.
        let notifier = NotifierService(ServiceNotifier(socket: nil), cameraSet: cameraSet, watchdog: nil)
        let running = Task { try await notifier.run() }
        running.cancel()
        try await running.value
        #expect(await ask(.readiness) == "The daemon is shutting down 503")
        await cameraSet.stop()
        #expect(await ask(.readiness) == "The daemon is shutting down 503")
        #expect(await ask(.health) == "alive 200")
    }
}
