"""All cases, in the order in which they are run."""

from . import media_calls, recording, windows, changes, offers, scenarios, plain, accounts, strangers, webrtc, pjsua, soak  # noqa: F401
from .registry import ALL  # noqa: F401
