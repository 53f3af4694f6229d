// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "CameraCheck",
    dependencies: [.package(name: "Offhook", path: "../../..")],
    targets: [
        .target(name: "CRig"),
        .executableTarget(
            name: "camera-check",
            dependencies: ["CRig", .product(name: "Offhook", package: "Offhook")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ]),
    ]
)
