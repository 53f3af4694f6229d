"""A display without a monitor, with a keyboard."""

import os
import shutil
import subprocess

from .process import Process
from .lab import wait_for


class Screen(Process):
    def __init__(self, lab, width=1280, height=720):
        if not shutil.which("Xvfb") or not shutil.which("xdotool"):
            lab.skip("Xvfb or xdotool is not installed")
        self.memory = lab.path("screen")
        os.makedirs(self.memory)
        super().__init__(lab, "xvfb", ["Xvfb", "-displayfd", "1", "-screen", "0", "%dx%dx24" % (width, height), "-fbdir",
                                       self.memory, "-nolisten", "tcp"])
        number = lab.need(wait_for(lambda: self.output.strip(), 20), "Xvfb does not start: " + self.error[-300:])
        self.environment = {"DISPLAY": ":" + number, "WAYLAND_DISPLAY": "", "SDL_RENDER_DRIVER": "software"}

    def key(self, name):
        """Presses a key where the pointer is, which is in the middle."""
        subprocess.run(["xdotool", "key", name], env={**os.environ, **self.environment}, check=True)

    def picture(self, x, y, width, height, is_mirrored=False):
        """A file with a part of what is on the screen."""
        copy, path = self.lab.path("screen.xwd"), self.lab.path("screen-%d-%d-%d-%d.png" % (x, y, width, height))
        # The server's memory has the form of an XWD file.
        shutil.copyfile(os.path.join(self.memory, "Xvfb_screen0"), copy)
        filters = "crop=%d:%d:%d:%d%s" % (width, height, x, y, ",hflip" if is_mirrored else "")
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", copy, "-vf", filters, path], stdin=subprocess.DEVNULL, check=True)
        return path
