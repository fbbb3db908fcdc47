# SPDX-License-Identifier: MIT
"""What tests of regions share: a space of their own, and children in it."""
import os
import pathlib
import shutil
import signal
import tempfile

import afteryou


class InASpace:
    """Beside unittest.TestCase, or a kind of it."""

    def setUp(self):
        directory = tempfile.mkdtemp(prefix="afteryou-test-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        self.name = str(pathlib.Path(directory) / "space")
        self.space = afteryou.Space(self.name)
        self.addCleanup(self.space.close)

    def in_child(self, work):
        """Runs work(space) in a child that opens its own; the pid, once it says so."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                space = afteryou.Space(self.name)
                work(space)
                os.write(write, b".")
                signal.pause()
            finally:
                os._exit(1)
        os.close(write)
        self.assertEqual(os.read(read, 1), b".")
        os.close(read)
        self.addCleanup(self.end, pid)
        return pid

    @staticmethod
    def end(pid):
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
