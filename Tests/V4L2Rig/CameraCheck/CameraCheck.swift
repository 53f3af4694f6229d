import CRig
import Glibc
import Offhook

/// Drives the SDK's camera through its public interface on the machine's virtual cameras, and says what held.
@main
struct CameraCheck {
    static func main() async {
        rig_print_at_once()
        var report = Report()
        switch CommandLine.arguments.dropFirst().first {
        case "vivid": await VividChecks().run(&report)
        case "usbcam": await USBChecks().run(&report)
        default:
            print("usage: CameraCheck vivid|usbcam")
            exit(2)
        }
        exit(report.failures == 0 ? 0 : 1)
    }
}
