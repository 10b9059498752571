import Foundation
import ReferenceTools
import Testing

/// Boots a kernel with two virtual cameras, runs ``DriverTests`` there, and checks the resulting pictures.
@Suite(
    .tags(.virtualMachine),
    .enabled(
        if: !VirtualMachine.isInside && VirtualMachine.canStart, "needs qemu-system-x86, and is what starts the rest"))
struct VirtualMachineTests {
    @Test(
        "All driver tests pass, and every format matches an independent converter"
    )
    func driver() throws {
        let folder = try TemporaryFolder()
        let exchange = folder.path("exchange")
        try FileManager.default.createDirectory(atPath: exchange, withIntermediateDirectories: true)
        try DriverTests.Loopback.prepare(in: exchange)
        let process = Process()
        process.executableURL = VirtualMachine.root.appendingPathComponent("Scripts/v4l2-vm")
        process.currentDirectoryURL = VirtualMachine.root
        var arguments = [
            "--loopback", "--vivid", "n_devs=2 multiplanar=1,2 no_error_inj=0", "--time-limit", "1500", "--writable",
            exchange,
            "--env", "\(VirtualMachine.variable)=\(exchange)",
        ]
        if let sizes = VirtualMachine.sizes { arguments += ["--env", "INLET_SIZES=\(sizes)"] }
        process.arguments =
            arguments + [
                "--",
                VirtualMachine.bundle, "--testing-library", "swift-testing", "--filter", "DriverTests/",
            ]
        let log = folder.path("log")
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let output = FileHandle(forWritingAtPath: log)
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        let failures = text.split(separator: "\n").filter {
            $0.contains("✘") || $0.contains("rror") || $0.contains("↳")
        }
        #expect(process.terminationStatus == 0, "\(failures.joined(separator: "\n"))\n\(text.suffix(1000))")
        #expect(text.contains("passed"), "no test ran: \(text.suffix(2000))")
        print(text.split(separator: "\n").filter { $0.contains("measured:") }.joined(separator: "\n"))
        try PictureComparison.check(exchange)
        try FieldComparison.check(exchange)
    }
}
