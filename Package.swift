// swift-tools-version: 6.2
import PackageDescription

/// One list of strict settings for every Swift target.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableExperimentalFeature("Lifetimes"),
    .treatAllWarnings(as: .error),
]

/// A C library of the system, as a module map and inline wrappers.
func shim(_ name: String, pkgConfig: String? = nil, package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/Shims/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

let package = Package(
    name: "Offhook",
    products: [
        .library(name: "Offhook", targets: ["Offhook"]),
        .library(name: "OffhookTestKit", targets: ["OffhookTestKit"]),
    ],
    targets: [
        // Shims: module maps and inline wrappers, no logic.
        .target(name: "CLinux", path: "Sources/Shims/CLinux"),
        // Loaded at first use, so that programs without windows run where they are not installed.
        .target(name: "CSDL", path: "Sources/Shims/CSDL"),
        // Not linked: libpulse is loaded where a program uses it, and needs only its headers here.
        .target(name: "CPulse", path: "Sources/Shims/CPulse"),
        .target(name: "CXCB", path: "Sources/Shims/CXCB"),
        shim("CSRTP", pkgConfig: "libsrtp2", package: "libsrtp2-dev"),
        shim("CVPX", pkgConfig: "vpx", package: "libvpx-dev"),
        shim("COpus", package: "libopus-dev"),
        shim("COpenSSL", pkgConfig: "openssl", package: "libssl-dev"),
        shim("CCares", pkgConfig: "libcares", package: "libc-ares-dev"),
        shim("CWslay", package: "libwslay-dev"),
        shim("CYUV", package: "libyuv-dev"),
        shim("CSpeexDSP", package: "libspeexdsp-dev"),
        shim("CPNG", pkgConfig: "libpng", package: "libpng-dev"),
        shim("CTurboJPEG", package: "libturbojpeg0-dev"),
        shim("CV4L2", package: "linux-libc-dev"),

        // Ground: words all share.
        library("OffhookBasics", []),
        library("OffhookMedia", ["OffhookBasics"]),

        // Pure: protocols as values, strangers to each other.
        library("OffhookSIP", ["OffhookBasics"]),
        library("OffhookSDP", ["OffhookBasics", "OffhookMedia"]),
        library("OffhookICE", ["OffhookBasics"]),
        library("OffhookRTP", ["OffhookBasics"]),
        library("OffhookCrypto", ["OffhookBasics", "CSRTP", "COpenSSL"]),

        // Engine: all calls of a client as one value.
        library(
            "OffhookEngine",
            [
                "OffhookBasics", "OffhookMedia", "OffhookSIP", "OffhookSDP", "OffhookICE", "OffhookRTP",
                "OffhookCrypto",
            ]),

        // Edge: threads, sockets, codecs, devices, the clock.
        library("OffhookIO", ["OffhookBasics", "CLinux", "COpenSSL", "CCares", "CWslay"]),
        library("OffhookCodecs", ["OffhookBasics", "OffhookMedia", "CVPX", "COpus", "CYUV", "CSpeexDSP"]),
        library(
            "OffhookDevices",
            [
                "OffhookBasics", "OffhookMedia", "OffhookCodecs", "CYUV", "CPNG", "CTurboJPEG", "CV4L2", "CSDL",
                "CXCB", "CPulse",
            ]),

        // Public: what apps see.
        library(
            "Offhook",
            [
                "OffhookBasics", "OffhookMedia", "OffhookSIP", "OffhookSDP", "OffhookRTP", "OffhookCrypto",
                "OffhookEngine", "OffhookIO", "OffhookCodecs", "OffhookDevices",
            ]),
        library(
            "OffhookTestKit",
            [
                "Offhook", "OffhookBasics", "OffhookMedia", "OffhookIO", "OffhookCodecs", "OffhookSIP", "OffhookCrypto",
            ]),

        tests("OffhookBasicsTests", ["OffhookBasics"]),
        tests("OffhookMediaTests", ["OffhookMedia"]),
        tests("OffhookSIPTests", ["OffhookSIP", "OffhookBasics"], resources: [.copy("Fixtures")]),
        tests("OffhookSDPTests", ["OffhookSDP", "OffhookBasics", "OffhookMedia"], resources: [.copy("Fixtures")]),
        tests(
            "OffhookICETests", ["OffhookICE", "OffhookBasics", "OffhookCrypto"], resources: [.copy("Fixtures")]),
        tests("OffhookRTPTests", ["OffhookRTP", "OffhookBasics"], resources: [.copy("Fixtures")]),
        tests("OffhookCryptoTests", ["OffhookCrypto", "OffhookBasics", "COpenSSL"], resources: [.copy("Fixtures")]),
        tests(
            "OffhookEngineTests", ["OffhookEngine", "OffhookSIP", "OffhookSDP", "OffhookRTP", "OffhookCrypto"],
            resources: [.copy("Fixtures")]),
        tests("OffhookIOTests", ["OffhookIO", "OffhookBasics", "COpenSSL"]),
        tests(
            "OffhookCodecsTests", ["OffhookCodecs", "OffhookMedia", "OffhookBasics", "OffhookCrypto"],
            resources: [.copy("Fixtures")]),
        tests(
            "OffhookDevicesTests",
            ["OffhookDevices", "OffhookMedia", "OffhookCodecs", "OffhookBasics", "CPNG", "CTurboJPEG"]),
        // On a virtual X server, where there is one.
        tests(
            "OffhookScreenTests",
            ["Offhook", "OffhookTestKit", "OffhookDevices", "OffhookMedia", "OffhookBasics", "CXCB"]),
        // Many calls in one process; Tests/Peers/run runs it.
        .executableTarget(
            name: "CallSoak", dependencies: ["Offhook"], path: "Tests/Peers/Soak", swiftSettings: strict),
        // Microphones and speakers as an app sees them; Tests/Sound/run runs it.
        .executableTarget(
            name: "SoundProbe", dependencies: ["Offhook"], path: "Tests/Sound/Probe", swiftSettings: strict),
        // Cameras as an app sees them; Tests/V4L2Rig/run runs it in a virtual machine.
        .target(name: "CRig", path: "Tests/V4L2Rig/CRig"),
        .executableTarget(
            name: "CameraCheck", dependencies: ["CRig", "Offhook"], path: "Tests/V4L2Rig/CameraCheck",
            swiftSettings: strict),
        // Motion JPEG to VP8 beside ffmpeg; Benchmarks/run runs it.
        .executableTarget(
            name: "CaptureBenchmark",
            dependencies: ["OffhookDevices", "OffhookCodecs", "OffhookMedia", "OffhookBasics"],
            path: "Benchmarks/MJPEGCapture", swiftSettings: strict),
        tests("OffhookTests", ["Offhook", "OffhookTestKit", "OffhookBasics", "OffhookRTP"]),
        tests("OffhookTestKitTests", ["OffhookTestKit", "Offhook", "OffhookDevices", "OffhookBasics"]),
    ]
)

// The sanitizers run some tests only (Tests/run names them): what those do not need is not built then.
if let chosen = Context.environment["OFFHOOK_TEST_TARGETS"]?.split(separator: " ").map(String.init) {
    let all = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    var needed: Set<String> = []
    var rest = chosen
    while let name = rest.popLast() {
        guard let target = all[name], needed.insert(name).inserted else { continue }
        for case .byNameItem(let name, _) in target.dependencies { rest.append(name) }
    }
    package.products = []
    package.targets.removeAll { !needed.contains($0.name) }
}
