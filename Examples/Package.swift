// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "OffhookExamples",
    products: [
        .executable(name: "offhook", targets: ["OffhookCommand"]),
        .executable(name: "softphone", targets: ["Softphone"]),
    ],
    dependencies: [
        // By name, so that the folder of the checkout may be called anything.
        .package(name: "Offhook", path: "..")
    ],
    targets: [
        .target(
            name: "SoftphoneKit", dependencies: [.product(name: "Offhook", package: "Offhook")], swiftSettings: strict),
        .executableTarget(name: "OffhookCommand", dependencies: ["SoftphoneKit"], swiftSettings: strict),
        .executableTarget(
            name: "Softphone", dependencies: [.product(name: "Offhook", package: "Offhook")], path: "Softphone",
            exclude: ["README.md"], swiftSettings: strict),
        .testTarget(name: "SoftphoneKitTests", dependencies: ["SoftphoneKit"], swiftSettings: strict),
    ]
)
