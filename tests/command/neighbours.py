# SPDX-License-Identifier: MIT
"""What others on the machine do to us, and what we must not do to them."""
import json
import os
import shutil
import subprocess
import unittest

from support import AFTERYOU, CommandTest

STRANGER = 61234


class Neighbours(CommandTest):
    def shell(self, script):
        return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False, timeout=60,
                              env={**self.environment, "A": AFTERYOU, "S": self.space})

    def test_closed_standard_files(self):
        """Whichever of 0, 1 and 2 is closed, no message reaches the space."""
        for closed in ("2>&-", "1>&-", "0<&-", "0<&- 1>&- 2>&-", "1>&- 2>&-"):
            with self.subTest(closed=closed):
                result = self.shell(f"""
                    "$A" run x -S "$S" -- sleep .5 & sleep .2
                    "$A" run x -S "$S" -n -- true {closed}; echo $?
                    "$A" status -S "$S" {closed}
                    "$A" spaces show "$S" {closed}
                    wait
                    "$A" run y -S "$S" -- echo in
                """)
                self.assertEqual(result.stdout.splitlines()[-1], "in", result.stderr)
                self.assertEqual(result.stdout.splitlines()[0], "1")

    def test_command_finds_it_closed(self):
        """Where a standard file was closed, the command has none, and no file of ours."""
        result = self.shell('"$A" run x -S "$S" -- sh -c "echo lost >&2; readlink /proc/self/fd/2" 2>&-')
        self.assertEqual(result.stdout, "")


    def test_space_removed_while_in_use(self):
        """Those who hold the old file are shown, beside those of the new one."""
        self.start("--", "sh", "-c", "echo $$ > pid; exec sleep 100")
        self.number_in("pid")
        before = json.loads(self.afteryou("status", "-S", self.space, "--json").stdout)
        self.assertEqual(before["removed"], [])
        os.unlink(self.space)
        gone = self.afteryou("status", "-S", self.space)
        self.assertEqual(gone.returncode, 125)
        self.assertIn("removed while in use", gone.stdout)
        self.assertEqual(self.run_it("--", "true").returncode, 0)
        after = json.loads(self.afteryou("status", "-S", self.space, "--json").stdout)
        self.assertTrue(after["removed"])
        self.assertEqual({use["path"] for use in after["removed"]}, {self.space})
        words = self.afteryou("status", "-S", self.space).stdout
        for use in after["removed"]:
            self.assertIn(f"pid {use['pid']} still has the file that was {self.space}", words)


    def run_as_stranger(self, *words, **more):
        """As a user of its own that no system has."""
        return subprocess.run([AFTERYOU, *words], capture_output=True, text=True, check=False, timeout=60,
                              user=STRANGER, group=STRANGER, extra_groups=[], cwd="/",
                              env={"PATH": os.environ["PATH"], **more})

    def make_directory(self, path, owner, mode=0o700):
        os.mkdir(path)
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        os.chmod(path, mode)
        os.chown(path, owner, owner)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be two users")
    def test_directory_made_by_another(self):
        """Who is shut out of its directory is told what to do, and has another by itself where the system made one."""
        if not os.access(AFTERYOU, os.X_OK) or self.run_as_stranger("--version").returncode != 0:
            self.skipTest("the program is in a directory that is closed to others")
        usual, runtime = f"/dev/shm/afteryou-{STRANGER}", f"/run/user/{STRANGER}"
        self.make_directory(usual, 0)
        refused = self.run_as_stranger("run", "x", "--", "true")
        self.assertEqual(refused.returncode, 125)
        for word in ("belongs to another user (0)", "AFTERYOU_DIR", "XDG_RUNTIME_DIR"):
            self.assertIn(word, refused.stderr)
        own = str(self.shared_memory / "own")
        self.make_directory(own, STRANGER)
        os.chmod(self.shared_memory, 0o711)
        self.assertEqual(self.run_as_stranger("run", "x", "--", "true", AFTERYOU_DIR=own).returncode, 0)
        self.assertEqual(os.listdir(own), ["default"])
        os.makedirs("/run/user", exist_ok=True)
        self.make_directory(runtime, STRANGER)
        # With XDG_RUNTIME_DIR and without (cron): the same.
        for more in ({}, {"XDG_RUNTIME_DIR": runtime}, {"XDG_RUNTIME_DIR": "/tmp"}):
            self.assertEqual(self.run_as_stranger("run", "x", "--", "true", **more).returncode, 0)
            shown = self.run_as_stranger("spaces", "show", "default", **more)
            self.assertIn(f"path        {runtime}/afteryou/default", shown.stdout)
        os.chmod(runtime, 0o755)  # not private: not used
        self.assertEqual(self.run_as_stranger("run", "x", "--", "true").returncode, 125)
        os.chmod(runtime, 0o700)
        os.rmdir(usual)  # nobody is shut out
        self.assertEqual(self.run_as_stranger("run", "x", "--", "true").returncode, 0)
        self.assertEqual(os.listdir(usual), ["default"])

    def test_directory_asked_for(self):
        own = str(self.shared_memory / "mine")
        environment = {**self.environment, "AFTERYOU_DIR": own}
        words = [AFTERYOU, "run", "x", "--", "true"]
        self.assertEqual(subprocess.run(words, env=environment, check=False).returncode, 0)
        self.assertEqual(os.stat(own).st_mode & 0o777, 0o700)
        os.chmod(own, 0o777)
        refused = subprocess.run(words, env=environment, check=False, capture_output=True, text=True)
        self.assertEqual(refused.returncode, 125)
        self.assertIn("may be written to by others", refused.stderr)
        refused = subprocess.run(words, env={**environment, "AFTERYOU_DIR": "mine"}, check=False, capture_output=True,
                                 text=True)
        self.assertIn("must be an absolute path", refused.stderr)


if __name__ == "__main__":
    unittest.main()
