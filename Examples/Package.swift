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
        .executable(name: "offhook", targets: ["OffhookCommand"])
    ],
    dependencies: [
        // By name, so that the folder of the checkout may be called anything.
        .package(name: "Offhook", path: "..")
    ],
    targets: [
        .target(
            name: "Softphone", dependencies: [.product(name: "Offhook", package: "Offhook")], swiftSettings: strict),
        .executableTarget(name: "OffhookCommand", dependencies: ["Softphone"], swiftSettings: strict),
        .testTarget(name: "SoftphoneTests", dependencies: ["Softphone"], swiftSettings: strict),
    ]
)
