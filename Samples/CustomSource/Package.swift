// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "CustomSource",
    platforms: [.macOS(.v15)],
    products: [.library(name: "LifeSource", targets: ["LifeSource"])],
    dependencies: [
        // In a package of your own: .package(url: "...", from: "...")
        .package(name: "inlet", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(name: "LifeSource", dependencies: [.product(name: "InletCore", package: "inlet")]),
        .executableTarget(
            name: "life",
            dependencies: [
                "LifeSource", .product(name: "InletCore", package: "inlet"),
                .product(name: "InletTesting", package: "inlet"), .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "LifeSourceTests",
            dependencies: [
                "LifeSource", .product(name: "InletCore", package: "inlet"),
                .product(name: "InletTesting", package: "inlet"),
            ]),
    ]
)
