// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "CustomSource",
    products: [.library(name: "LifeSource", targets: ["LifeSource"])],
    dependencies: [
        // In your own package: .package(url: "...", from: "...")
        .package(name: "inlet", path: "../..")
    ],
    targets: [
        .target(name: "LifeSource", dependencies: [.product(name: "InletCore", package: "inlet")]),
        .executableTarget(
            name: "life",
            dependencies: [
                "LifeSource", .product(name: "InletCore", package: "inlet"),
                .product(name: "InletCapture", package: "inlet"),
            ]),
        .testTarget(
            name: "LifeSourceTests",
            dependencies: [
                "LifeSource", .product(name: "InletCore", package: "inlet"),
                .product(name: "InletTesting", package: "inlet"),
            ]),
    ]
)
