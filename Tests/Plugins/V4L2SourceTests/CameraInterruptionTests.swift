import Testing

@testable import V4L2Source

@Suite struct CameraInterruptionTests {
    private enum Input: Sendable {
        case shutter(Bool)
        case taken([String])
        case owned
    }

    private struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var policy = V4L2Configuration.ShutterPolicy.interrupt
        var inputs: [Input]
        var changes: [CameraInterruption.Change?]
        var withholds = false
        var testDescription: String { name }
    }

    private static let closed = "the camera's shutter is closed"

    private static let rows = [
        Row(name: "an open shutter changes nothing", inputs: [.shutter(false), .owned], changes: [nil, nil]),
        Row(
            name: "a closed shutter interrupts until it opens", inputs: [.shutter(true), .shutter(false)],
            changes: [.begin(closed), .end]),
        Row(
            name: "the same state twice is reported once", inputs: [.shutter(true), .shutter(true)],
            changes: [.begin(closed), nil], withholds: true),
        Row(
            name: "the policy deliver delivers the pictures", policy: .deliver,
            inputs: [.shutter(true), .shutter(false)], changes: [nil, nil]),
        Row(
            name: "a program that uses the camera is named until it closes it",
            inputs: [.taken(["obs (process 7)"]), .owned],
            changes: [.begin("obs (process 7) uses the camera"), .end]),
        Row(
            name: "two programs are named", inputs: [.taken(["a (process 1)", "b (process 2)"])],
            changes: [.begin("a (process 1) and b (process 2) use the camera")]),
        Row(
            name: "a program without a known name", policy: .deliver, inputs: [.taken([]), .owned, .owned],
            changes: [.begin("another program uses the camera"), .end, nil]),
        Row(
            name: "the shutter is the reason again when the program closes the camera",
            inputs: [.shutter(true), .taken([]), .owned, .shutter(false)],
            changes: [.begin(closed), .begin("another program uses the camera"), .begin(closed), .end]),
        Row(
            name: "a shutter that moves while another program uses the camera does not change the reason",
            inputs: [.taken([]), .shutter(true), .shutter(false), .shutter(true), .owned],
            changes: [.begin("another program uses the camera"), nil, nil, nil, .begin(closed)], withholds: true),
    ]

    @Test("The bridge is notified of each change of the reason, and of nothing else", arguments: rows)
    private func changes(_ row: Row) {
        var interruption = CameraInterruption(row.policy)
        let changes = row.inputs.map { input in
            switch input {
            case .shutter(let isClosed): interruption.noteShutter(isClosed: isClosed)
            case .taken(let names): interruption.noteTaken(by: names)
            case .owned: interruption.noteOwned()
            }
        }
        #expect(changes == row.changes)
        #expect(interruption.withholdsPictures == row.withholds)
    }
}
