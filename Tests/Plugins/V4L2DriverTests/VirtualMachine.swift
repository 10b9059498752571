import Foundation
import ReferenceTools
import Testing

/// The virtual machine in which tests of real drivers run.
enum VirtualMachine {
    /// Set by the test that starts it.
    static let variable = "INLET_V4L2_VM"

    /// The number of sizes at which each format is captured; nil for the default.
    static let sizes = ProcessInfo.processInfo.environment["INLET_SIZES"]

    static let isInside = ProcessInfo.processInfo.environment[variable] != nil

    /// The folder in which the two sides exchange pictures.
    static var exchange: String { ProcessInfo.processInfo.environment[variable] ?? "" }

    static let canStart = FileManager.default.isExecutableFile(atPath: "/usr/bin/qemu-system-x86_64")

    static let root = BuiltProgram.package

    /// The test bundle that runs now.
    static var bundle: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }

    /// The program of the first-party package, next to the bundle.
    static var inlet: String {
        URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("inlet").path
    }
}

/// Tests against the kernel's virtual camera, one after another, because they share it.
///
/// `VirtualMachineTests` runs them inside the virtual machine; outside there is no camera for them.
@Suite(
    .tags(.virtualMachine), .serialized,
    .enabled(if: VirtualMachine.isInside, "runs inside Scripts/v4l2-vm, which VirtualMachineTests starts"),
    .timeLimit(.minutes(12)))
struct DriverTests {}
