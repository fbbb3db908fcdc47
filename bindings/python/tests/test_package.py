# SPDX-License-Identifier: MIT
"""Tests of the package as a whole: its types, its version, its wheel in a virtual environment."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import afteryou

HERE = pathlib.Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
DEBIANS = "/usr/bin/python3"  # which knows Debian's setuptools and wheel, and may not be the first in the PATH

WELL_TYPED = """
import afteryou, afteryou.filelock, afteryou.multiprocessing
space = afteryou.Space("x", retain=True)
with space.region("y", mode=afteryou.Mode.SHARED) as region:
    fence: int = region.fence
entered: bool = region.acquire(timeout=1.5)
async def work() -> bool:
    async with space.region("y") as asked:
        return asked.inside
with afteryou.filelock.FileLock("z").acquire(timeout=3) as lock:
    held: bool = lock.is_locked
semaphore: afteryou.multiprocessing.Semaphore = afteryou.multiprocessing.Semaphore(3)
"""
ILL_TYPED = """
import afteryou
fence: str = afteryou.Space("x").region("y").fence
"""
IN_A_VENV = """
import afteryou, afteryou._library, afteryou.filelock, afteryou.multiprocessing, sys
with afteryou.Space(sys.argv[1]) as space, space.region("x"):
    print(afteryou.__file__, afteryou._library.library._name, afteryou.__version__)
"""


def call(*words, **keywords):
    result = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, **keywords)
    if result.returncode != 0:
        raise AssertionError(f"{words}: {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout


class Package(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="afteryou-test-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def mypy(self, *words):
        return subprocess.run([shutil.which("mypy"), "--strict", "--cache-dir", str(self.directory / "cache"), *words],
                              capture_output=True, text=True, check=False, timeout=300, cwd=self.directory,
                              env={**os.environ, "MYPYPATH": str(HERE)})

    @unittest.skipUnless(shutil.which("mypy"), "needs mypy")
    def test_types(self):
        """mypy --strict finds nothing in the package, nor in a program that uses it well; and it does find a misuse."""
        self.assertTrue((HERE / "afteryou/py.typed").exists())
        result = self.mypy(str(HERE / "afteryou"))
        self.assertEqual(result.returncode, 0, result.stdout)
        for text, clean in ((WELL_TYPED, True), (ILL_TYPED, False)):
            (self.directory / "program.py").write_text(text)
            result = self.mypy("program.py")
            self.assertEqual(result.returncode == 0, clean, result.stdout)

    def test_version(self):
        project = (ROOT / "meson.build").read_text()
        self.assertEqual(afteryou.__version__, re.search(r"version: '([\d.]+)'", project).group(1))

    def test_wheel_in_a_virtual_environment(self):
        """It is found there without any path being set, and brings its library."""
        probe = "import setuptools, wheel, pip, venv"
        if subprocess.run([DEBIANS, "-c", probe], capture_output=True, check=False).returncode != 0 or not shutil.which("strip"):
            self.skipTest("needs python3-pip, python3-setuptools, python3-wheel, python3-venv and binutils")
        wheel = call(DEBIANS, str(HERE / "make_wheel.py"), os.environ["LIBAFTERYOU"], str(self.directory)).strip()
        self.assertRegex(wheel, r"afteryou-[\d.]+-py3-none-linux_\w+\.whl$")
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LIBAFTERYOU")}
        pythons = {os.path.realpath(python): python for python in (DEBIANS, sys.executable)}
        for number, python in enumerate(pythons.values()):
            with self.subTest(python):
                venv = self.directory / f"venv{number}"
                call(python, "-m", "venv", "--without-pip", str(venv), env=environment)  # pip's own is slow to be put there
                call(DEBIANS, "-m", "pip", "--python", str(venv), "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel,
                     env=environment)
                shown = call(str(venv / "bin/python"), "-c", IN_A_VENV, str(self.directory / "space"), env=environment,
                             cwd=self.directory).split()
                package = pathlib.Path(shown[0]).parent
                self.assertTrue(package.is_relative_to(venv), package)
                self.assertEqual(pathlib.Path(shown[1]), package / "libafteryou.so.0")
                self.assertTrue((package / "py.typed").exists())
                self.assertEqual(shown[2], afteryou.__version__)


if __name__ == "__main__":
    unittest.main()
