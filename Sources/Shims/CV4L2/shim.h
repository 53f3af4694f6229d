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
