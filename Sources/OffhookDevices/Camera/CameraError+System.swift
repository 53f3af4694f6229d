internal import Glibc

extension CameraError {
    /// What a failed system call on a camera means.
    init(_ error: SystemError, camera: String) {
        switch error.number {
        case EBUSY:
            self.init(.busy, "\(camera) is in use by another program: close that program and try again.")
        case EACCES, EPERM:
            self.init(
                .notPermitted,
                "\(camera) may not be opened by this user: add the user to the group `video` and log in again.")
        case ENODEV, ENXIO, ENOENT:
            self.init(.vanished, "\(camera) was unplugged: plug it in again, and pictures go on by themselves.")
        case EINVAL:
            self.init(
                .formatNotSupported,
                "\(camera) does not have the picture format that was asked for: choose one of its formats.")
        case ENOSPC:
            self.init(
                .failed,
                "\(camera) needs more of the USB than is free: choose a smaller picture or another USB port.")
        default:
            self.init(.failed, "\(camera) reports an error (\(error.text)): unplug it and plug it in again.")
        }
    }

    /// No picture has come for too long.
    static func stalled(_ camera: String) -> CameraError {
        CameraError(
            .stalled,
            "\(camera) has sent no picture for two seconds: if it stays so, unplug it and plug it in again.")
    }

    /// There is no camera to choose.
    static func notFound(_ findings: CameraScanner.Findings) -> CameraError {
        let denied = findings.refusals.first { $0.error.number == EACCES || $0.error.number == EPERM }
        if let denied { return CameraError(denied.error, camera: denied.path) }
        if let busy = findings.refusals.first(where: { $0.error.number == EBUSY }) {
            return CameraError(busy.error, camera: busy.path)
        }
        return CameraError(.notFound, "No camera was found: plug one in, or call without video.")
    }

    /// There are cameras, but none that looks that way.
    static func notFound(at position: CameraPosition, among cameras: [CameraDevice]) -> CameraError {
        let names = cameras.map(\.name).joined(separator: ", ")
        return CameraError(.notFound, "No camera is known as the \(position.rawValue) one: choose another of \(names).")
    }
}
