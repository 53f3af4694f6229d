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

/// An example: one story, in one folder.
func story(_ name: String, path: String) -> Target {
    .executableTarget(
        name: name, dependencies: ["ExampleConsole", .product(name: "Offhook", package: "Offhook")], path: path,
        exclude: ["README.md"], swiftSettings: strict)
}

let package = Package(
    name: "OffhookExamples",
    products: [
        .executable(name: "offhook", targets: ["OffhookCommand"]),
        .executable(name: "softphone", targets: ["Softphone"]),
        .executable(name: "answering-machine", targets: ["AnsweringMachine"]),
        .executable(name: "door-station", targets: ["DoorStation"]),
        .executable(name: "custom-sink", targets: ["CustomSink"]),
        .executable(name: "test-pattern", targets: ["PatternCall"]),
    ],
    dependencies: [
        // By name, so that the folder of the checkout may be called anything.
        .package(name: "Offhook", path: "..")
    ],
    targets: [
        .target(
            name: "SoftphoneKit", dependencies: [.product(name: "Offhook", package: "Offhook")], swiftSettings: strict),
        .executableTarget(name: "OffhookCommand", dependencies: ["SoftphoneKit"], swiftSettings: strict),
        // What the stories print and read.
        .target(name: "ExampleConsole", swiftSettings: strict),
        story("Softphone", path: "Softphone"),
        story("AnsweringMachine", path: "AnsweringMachine"),
        story("DoorStation", path: "DoorStation"),
        story("CustomSink", path: "CustomSink"),
        story("PatternCall", path: "TestPattern"),
        .testTarget(
            name: "StoryTests",
            dependencies: ["OffhookCommand", "AnsweringMachine", "DoorStation", "CustomSink", "PatternCall"],
            swiftSettings: strict),
        .testTarget(name: "SoftphoneKitTests", dependencies: ["SoftphoneKit"], swiftSettings: strict),
    ]
)
