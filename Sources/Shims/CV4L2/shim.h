// The types of <sys/time.h> shall stay those of the C library's own module, or Swift takes them for ours.
#pragma clang module import SwiftGlibc

#include <linux/videodev2.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

// The request numbers are function-like macros, which Swift does not import.
static const unsigned long cv4l2_QUERYCAP = VIDIOC_QUERYCAP;
static const unsigned long cv4l2_ENUM_FMT = VIDIOC_ENUM_FMT;
static const unsigned long cv4l2_ENUM_FRAMESIZES = VIDIOC_ENUM_FRAMESIZES;
static const unsigned long cv4l2_ENUM_FRAMEINTERVALS = VIDIOC_ENUM_FRAMEINTERVALS;
static const unsigned long cv4l2_S_FMT = VIDIOC_S_FMT;
static const unsigned long cv4l2_S_PARM = VIDIOC_S_PARM;
static const unsigned long cv4l2_REQBUFS = VIDIOC_REQBUFS;
static const unsigned long cv4l2_QUERYBUF = VIDIOC_QUERYBUF;
static const unsigned long cv4l2_QBUF = VIDIOC_QBUF;
static const unsigned long cv4l2_DQBUF = VIDIOC_DQBUF;
static const unsigned long cv4l2_STREAMON = VIDIOC_STREAMON;
static const unsigned long cv4l2_STREAMOFF = VIDIOC_STREAMOFF;
static const unsigned long cv4l2_G_CTRL = VIDIOC_G_CTRL;
static const unsigned long cv4l2_S_CTRL = VIDIOC_S_CTRL;
static const unsigned long cv4l2_QUERYCTRL = VIDIOC_QUERYCTRL;
static const unsigned long cv4l2_QUERYMENU = VIDIOC_QUERYMENU;
static const unsigned long cv4l2_G_FMT = VIDIOC_G_FMT;
static const unsigned int cv4l2_CID_BRIGHTNESS = V4L2_CID_BRIGHTNESS;
static const unsigned int cv4l2_CID_CONTRAST = V4L2_CID_CONTRAST;
static const unsigned int cv4l2_CID_SATURATION = V4L2_CID_SATURATION;
static const unsigned int cv4l2_CID_GAIN = V4L2_CID_GAIN;
static const unsigned int cv4l2_CID_AUTO_WHITE_BALANCE = V4L2_CID_AUTO_WHITE_BALANCE;
static const unsigned int cv4l2_CID_POWER_LINE_FREQUENCY = V4L2_CID_POWER_LINE_FREQUENCY;
static const unsigned int cv4l2_CID_EXPOSURE_AUTO = V4L2_CID_EXPOSURE_AUTO;
static const unsigned int cv4l2_CID_EXPOSURE_ABSOLUTE = V4L2_CID_EXPOSURE_ABSOLUTE;
static const unsigned int cv4l2_CID_FOCUS_AUTO = V4L2_CID_FOCUS_AUTO;
static const unsigned int cv4l2_CID_FOCUS_ABSOLUTE = V4L2_CID_FOCUS_ABSOLUTE;
static const unsigned int cv4l2_CID_ZOOM_ABSOLUTE = V4L2_CID_ZOOM_ABSOLUTE;
static const unsigned int cv4l2_CID_CAMERA_ORIENTATION = V4L2_CID_CAMERA_ORIENTATION;
static const unsigned int cv4l2_CID_CAMERA_SENSOR_ROTATION = V4L2_CID_CAMERA_SENSOR_ROTATION;
static const unsigned int cv4l2_CID_EXPOSURE_AUTO_PRIORITY = V4L2_CID_EXPOSURE_AUTO_PRIORITY;

// Members of a packed union, whose places Swift cannot be trusted with.
static inline const char *cv4l2_menu_name(struct v4l2_querymenu *menu) {
  menu->name[sizeof menu->name - 1] = 0;
  return (const char *)menu->name;
}
static inline long long cv4l2_menu_value(const struct v4l2_querymenu *menu) { return menu->value; }
