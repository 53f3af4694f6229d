"""A program under the case's control."""

import os
import signal
import subprocess


class Process:
    def __init__(self, lab, name, argv, environment=None, folder=None):
        self.lab = lab
        self.name = name
        self.output_path = lab.path(name + ".out")
        self.error_path = lab.path(name + ".err")
        with open(self.output_path, "wb") as output, open(self.error_path, "wb") as error:
            self.process = subprocess.Popen(
                argv, env={**os.environ, **(environment or {})}, cwd=folder, stdin=subprocess.PIPE, stdout=output,
                stderr=error)
        lab.processes.append(self)

    @property
    def output(self):
        with open(self.output_path, errors="replace") as file:
            return file.read()

    @property
    def error(self):
        with open(self.error_path, errors="replace") as file:
            return file.read()

    @property
    def is_running(self):
        return self.process.poll() is None

    def write(self, line):
        self.process.stdin.write((line + "\n").encode())
        self.process.stdin.flush()

    def wait(self, seconds):
        """The exit status, or None where it still runs."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def stop(self, seconds=5):
        if self.is_running:
            self.process.send_signal(signal.SIGTERM)
            if self.wait(seconds) is None:
                self.process.kill()
                self.process.wait()
        self.process.stdin.close()
