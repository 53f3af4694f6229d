internal import CV4L2
internal import Glibc

extension V4L2Device {
    /// The controls with one number for a value, in the driver's order.
    func controls() -> [CameraControl] {
        var controls: [CameraControl] = []
        var query = v4l2_queryctrl()
        let next = UInt32(V4L2_CTRL_FLAG_NEXT_CTRL)
        query.id = next
        // A driver that never comes to an end is left after more controls than any has.
        for _ in 0..<1024 {
            guard control(cv4l2_QUERYCTRL, &query) == 0 else { break }
            if let found = cameraControl(query) { controls.append(found) }
            query.id |= next
        }
        return controls
    }

    /// The control with a number; nil where there is none.
    func cameraControl(_ identifier: CameraControl.ID) -> CameraControl? {
        var query = v4l2_queryctrl()
        query.id = identifier.rawValue
        guard control(cv4l2_QUERYCTRL, &query) == 0 else { return nil }
        return cameraControl(query)
    }

    private func cameraControl(_ query: v4l2_queryctrl) -> CameraControl? {
        let kind: CameraControl.Kind
        switch query.type {
        case V4L2_CTRL_TYPE_INTEGER.rawValue: kind = .number
        case V4L2_CTRL_TYPE_BOOLEAN.rawValue: kind = .toggle
        case V4L2_CTRL_TYPE_MENU.rawValue: kind = .menu(choices(query, areNumbers: false))
        case V4L2_CTRL_TYPE_INTEGER_MENU.rawValue: kind = .menu(choices(query, areNumbers: true))
        default: return nil
        }
        guard query.flags & UInt32(V4L2_CTRL_FLAG_DISABLED | V4L2_CTRL_FLAG_WRITE_ONLY) == 0,
            query.minimum <= query.maximum, let value = value(ofControl: query.id)
        else { return nil }
        let locks = UInt32(V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_INACTIVE | V4L2_CTRL_FLAG_GRABBED)
        return CameraControl(
            id: CameraControl.ID(rawValue: query.id), name: text(query.name), kind: kind,
            range: Int(query.minimum)...Int(query.maximum), step: max(1, Int(query.step)),
            defaultValue: Int(query.default_value), value: value, isSettable: query.flags & locks == 0)
    }

    private func choices(_ query: v4l2_queryctrl, areNumbers: Bool) -> [Int: String] {
        var choices: [Int: String] = [:]
        // Menus are short; what a driver says beyond that is not believed.
        let first = max(0, query.minimum)
        guard first <= 255 else { return [:] }
        for index in first...max(first, min(query.maximum, 255)) {
            var menu = v4l2_querymenu()
            menu.id = query.id
            menu.index = UInt32(index)
            // A place in the middle may be missing.
            guard control(cv4l2_QUERYMENU, &menu) == 0 else { continue }
            choices[Int(index)] = areNumbers ? "\(cv4l2_menu_value(&menu))" : name(of: menu)
        }
        return choices
    }

    /// The name lies in a packed union: its place is told by the C side.
    private func name(of menu: v4l2_querymenu) -> String {
        var menu = menu
        return withUnsafeMutablePointer(to: &menu) { String(cString: cv4l2_menu_name($0)) }
    }
}
