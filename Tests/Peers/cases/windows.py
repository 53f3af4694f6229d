"""The softphone in a window, on a virtual screen, driven by its keys."""

import os

from lab import picture
from lab.lab import wait_for
from lab.linphone import Linphone
from lab.offhook import ADDRESS
from lab.process import Process
from lab.screen import Screen

from . import calls
from .registry import add


def phone_in_window(lab):
    screen = Screen(lab)
    phone = Process(
        lab, "phone", [os.environ["OFFHOOK"], "phone", "--bind", "127.0.0.1:5060", "--display", "window", "--camera",
                       "pattern:640x360@15", "--srtp", "off"], screen.environment)
    peer = Linphone(lab, video=True)

    def tells(words, seconds=15):
        lab.need(wait_for(lambda: words in phone.output, seconds), "the phone does not say “%s”: %s %s" % (
            words, phone.output[-300:], phone.error[-300:]))

    tells("Ready as")
    peer.call(ADDRESS)
    tells("Press a to answer")
    screen.key("v")
    tells("Video: sendReceive.")
    snapshot = calls.wait_for_picture(lab, peer)
    lab.check(picture.pattern_number(snapshot) is not None, "linphone does not see the test pattern")
    # The window of 960x540 is in the middle; 352x288 of linphone's picture fill its height, 230x129 of one's own its corner.
    shown = wait_for(lambda: picture.is_bars(screen.picture(310, 90, 660, 540)), 15, 0.3)
    lab.check(shown, "linphone's picture is not in the window")
    own = wait_for(lambda: picture.pattern_number(screen.picture(875, 486, 230, 129, is_mirrored=True)) is not None, 5, 0.3)
    lab.check(own, "one's own picture is not in the corner, as in a mirror")
    screen.key("x")
    tells("The call is over")
    screen.key("q")
    lab.check(phone.wait(10) == 0, "the phone ends with status %s" % phone.process.returncode)


add("window-phone-with-linphone", phone_in_window)
