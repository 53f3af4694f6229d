#include "CRig.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

int rig_set_control(const char *path, uint32_t identifier, int32_t value) {
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return errno;
    struct v4l2_control control = {.id = identifier, .value = value};
    int status = ioctl(descriptor, VIDIOC_S_CTRL, &control) == 0 ? 0 : errno;
    close(descriptor);
    return status;
}

int rig_become_nobody(void) { return seteuid(65534) == 0 ? 0 : errno; }

int rig_become_root(void) { return seteuid(0) == 0 ? 0 : errno; }

void rig_print_at_once(void) { setvbuf(stdout, 0, _IOLBF, 0); }
