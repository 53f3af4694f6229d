// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "OffhookBenchmarks",
    dependencies: [
        // By name, so that the folder of the checkout may be called anything.
        .package(name: "Offhook", path: "..")
    ],
    targets: [
        .target(
            name: "CBareEndpoint",
            linkerSettings: [
                .linkedLibrary("vpx"), .linkedLibrary("opus"), .linkedLibrary("srtp2"), .linkedLibrary("pthread"),
            ]),
        .executableTarget(
            name: "EndpointBenchmark",
            dependencies: ["CBareEndpoint", .product(name: "Offhook", package: "Offhook")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .enableUpcomingFeature("InferIsolatedConformances"), .treatAllWarnings(as: .error),
            ]),
    ]
)
