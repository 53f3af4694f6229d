// swift-tools-version: 6.2
import PackageDescription

// Nothing but what any app has: the language mode of Swift 6, and no settings of Offhook's own.
let package = Package(
    name: "Answerer",
    dependencies: [.package(name: "Offhook", path: "../a checkout")],
    targets: [
        .executableTarget(name: "Answerer", dependencies: [.product(name: "Offhook", package: "Offhook")]),
        .executableTarget(name: "Door", dependencies: [.product(name: "Offhook", package: "Offhook")]),
        .testTarget(
            name: "AnswererTests",
            dependencies: ["Answerer", .product(name: "OffhookTestKit", package: "Offhook")]),
    ]
)
