# SPDX-License-Identifier: MIT
"""The header compiles without a warning by every standard that it says it takes, with gcc and clang; and an older standard is
told what is missing: test_standards.py SOURCE"""
import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
COMPILERS = [compiler for compiler in ("g++", "clang++") if shutil.which(compiler)]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror"]


def compiled(compiler, standard, text):
    """Another program's translation unit, which has nothing but the header."""
    return subprocess.run([compiler, f"-std={standard}", *WARNINGS, "-fsyntax-only", "-x", "c++", "-I", ROOT / "bindings/cpp",
                           "-I", ROOT / "include", "-"], input=text, capture_output=True, text=True, check=False, timeout=120)


class Standards(unittest.TestCase):
    @unittest.skipUnless(COMPILERS, "needs g++ or clang++")
    def test_standards(self):
        for compiler in COMPILERS:
            for standard, test in (("c++17", "test_afteryou.cpp"), ("c++20", "test_afteryou.cpp"), ("c++20", "test_asks.cpp")):
                with self.subTest(compiler, standard=standard, test=test):
                    result = compiled(compiler, standard, (ROOT / "bindings/cpp" / test).read_text())
                    self.assertEqual((result.returncode, result.stderr), (0, ""))

    @unittest.skipUnless(COMPILERS, "needs g++ or clang++")
    def test_older_standard(self):
        for compiler in COMPILERS:
            with self.subTest(compiler):
                result = compiled(compiler, "c++14", "#include <afteryou.hpp>\n")
                self.assertNotEqual(result.returncode, 0)
                self.assertIn("afteryou.hpp needs C++17 or later", result.stderr)


if __name__ == "__main__":
    unittest.main()
