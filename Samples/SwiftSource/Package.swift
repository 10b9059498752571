// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "SwiftSource",
    products: [
        // For applications that compile the source in: `registry.register(SourcePlugin.ball)`.
        .library(name: "BallSource", targets: ["BallSource"]),
        // For everyone else: libball.so, which the stock `inlet` loads.
        .library(name: "ball", type: .dynamic, targets: ["BallPlugin"]),
    ],
    dependencies: [
        // In your own package: .package(url: "...", from: "...")
        .package(name: "inlet", path: "../..")
    ],
    targets: [
        .target(name: "BallSource", dependencies: [.product(name: "InletCore", package: "inlet")]),
        .target(
            name: "BallPlugin",
            dependencies: ["BallSource", .product(name: "InletPluginSDK", package: "inlet")],
            // The library exports only its entry point.
            linkerSettings: [
                .unsafeFlags(["-Xlinker", "--version-script=\(Context.packageDirectory)/exports.map"])
            ]),
    ]
)
