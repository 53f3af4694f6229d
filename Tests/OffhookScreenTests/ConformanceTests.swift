import Offhook
import OffhookTestKit
import Testing

extension `On screen` {
    @Suite struct `The rules are kept` {
        init() throws {
            _ = try #require(VirtualScreen.shared)
        }

        @Test(arguments: VideoSinkConformance.checks(for: SDLRenderer.self))
        func window(_ check: ConformanceCheck<SDLRenderer>) async throws {
            try await check(SDLRenderer())
        }

        @Test(arguments: VideoCapturerConformance.checks(for: ScreenCapturer.self))
        func screen(_ check: ConformanceCheck<ScreenCapturer>) async throws {
            try await check(ScreenCapturer())
        }
    }
}
