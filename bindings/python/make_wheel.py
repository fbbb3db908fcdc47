# SPDX-License-Identifier: MIT
"""Builds the wheel, with the library in it, without any network: make_wheel.py LIBRARY DIRECTORY. Prints its path."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def build(library, directory):
    """The wheel's path. What is installed of setuptools and wheel is used."""
    with tempfile.TemporaryDirectory() as scratch:
        source, made = pathlib.Path(scratch, "source"), pathlib.Path(scratch, "made")
        shutil.copytree(HERE / "afteryou", source / "afteryou", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "setup.py"):
            shutil.copy(HERE / name, source)
        subprocess.run(["strip", "--strip-debug", "-o", source / "afteryou/libafteryou.so.0", library], check=True)
        words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
                 "--disable-pip-version-check", "--wheel-dir", made, source]
        result = subprocess.run(words, cwd=scratch, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"make_wheel.py: pip could not build the wheel:\n{result.stdout}{result.stderr}")
        wheel, = made.glob("*.whl")
        pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
        return shutil.copy(wheel, directory)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: make_wheel.py LIBRARY DIRECTORY")
    print(build(sys.argv[1], sys.argv[2]))
