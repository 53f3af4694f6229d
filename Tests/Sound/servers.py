"""Sound servers of the tests' own: PulseAudio and PipeWire, each in a folder and on a socket of its own."""

import os
import shutil
import signal
import subprocess
import tempfile
import time


class Trouble(Exception):
    pass


def wait_for(what, seconds, look):
    """The first true result of `look`, or Trouble that names what did not come."""
    end = time.monotonic() + seconds
    while True:
        result = look()
        if result:
            return result
        if time.monotonic() > end:
            raise Trouble(f"{what} did not come within {seconds} s")
        time.sleep(0.05)


class Server:
    """A running sound server. `environment` leads programs to it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="offhook-sound-")
        self.processes = []
        # What uses the server and has to end where a case fails.
        self.programs = []
        self.environment = {
            **os.environ, "HOME": self.folder, "XDG_RUNTIME_DIR": self.folder, "XDG_CONFIG_HOME": self.folder + "/config",
            "XDG_STATE_HOME": self.folder + "/state", "PULSE_SERVER": f"unix:{self.socket}", "SWIFT_BACKTRACE": "enable=no",
        }
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"):
            self.environment.pop(name, None)
        self.start()

    def run(self, name, argv):
        log = open(f"{self.folder}/{name}.log", "ab")
        process = subprocess.Popen(argv, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        self.processes.append(process)
        return process

    def pactl(self, *words):
        done = subprocess.run(
            ["pactl", *words], env=self.environment, capture_output=True, text=True, timeout=10)
        if done.returncode != 0:
            raise Trouble(f"pactl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout.strip()

    def has(self, kind, name):
        return any(line.split("\t")[1] == name for line in self.pactl("list", "short", kind).splitlines() if "\t" in line)

    def add_sink(self, name):
        """A sink that leads nowhere but to its monitor; its module, to take it away again."""
        module = self.pactl(
            "load-module", "module-null-sink", f"sink_name={name}", f"sink_properties=device.description={name}-name")
        wait_for(f"the sink {name}", 5, lambda: self.has("sinks", name) and self.has("sources", name + ".monitor"))
        return module

    def remove(self, module):
        self.pactl("unload-module", module)

    def play(self, sink, path):
        """Plays a file of raw samples on a sink."""
        return self.run("play-" + sink, ["pacat", "-p", f"--device={sink}", "--raw", "--format=s16le", "--rate=48000",
                                         "--channels=1", "--latency-msec=60", path])

    def kill(self):
        """Ends the server and what plays on it, without a farewell."""
        for process in reversed(self.processes):
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.processes = []

    def close(self):
        for process in self.programs:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class PulseAudio(Server):
    name = "pulseaudio"

    @property
    def socket(self):
        return self.folder + "/native"

    def start(self):
        if os.path.exists(self.socket):
            os.unlink(self.socket)
        self.run("pulseaudio", [
            "pulseaudio", "--daemonize=no", "-n", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=no",
            "--realtime=no", "--high-priority=no",
            "-L", f"module-native-protocol-unix socket={self.socket} auth-anonymous=1"])
        wait_for("PulseAudio", 10, lambda: os.path.exists(self.socket))


class PipeWire(Server):
    name = "pipewire"

    @property
    def socket(self):
        return self.folder + "/pulse/native"

    def start(self):
        shutil.rmtree(self.folder + "/pulse", ignore_errors=True)
        bus = self.folder + "/bus"
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={bus}"
        if os.path.exists(bus):
            os.unlink(bus)
        self.run("dbus", ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:path={bus}"])
        wait_for("D-Bus", 5, lambda: os.path.exists(bus))
        self.run("pipewire", ["pipewire"])
        wait_for("PipeWire", 10, lambda: os.path.exists(self.folder + "/pipewire-0"))
        self.run("wireplumber", ["wireplumber"])
        self.run("pipewire-pulse", ["pipewire-pulse"])
        wait_for("PipeWire's PulseAudio part", 10, lambda: os.path.exists(self.socket))
        wait_for("an answer of PipeWire", 10, self.answers)

    def answers(self):
        try:
            return bool(self.pactl("info"))
        except Trouble:
            return False
