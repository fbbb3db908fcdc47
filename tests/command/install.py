# SPDX-License-Identifier: MIT
"""`./dev install PREFIX`: what lies below the prefix then, and that it works from there; what the packages take of it; the unit."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import PATIENCE, ROOT

MANUAL = ROOT / "man"


def call(*words, **keywords):
    environment = {**os.environ, **keywords.pop("environment", {})}
    result = subprocess.run(words, capture_output=True, text=True, check=False, env=environment, timeout=10 * PATIENCE, **keywords)
    if result.returncode != 0:
        raise AssertionError(f"{words}: {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="afteryou-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.prefix = cls.directory / "prefix"
        # Below the directory it was called in, if it is not absolute; the word, not PREFIX of the environment; and DESTDIR goes before it.
        call(str(ROOT / "dev"), "install", "prefix", cwd=cls.directory,
             environment={"DESTDIR": "", "PREFIX": str(cls.directory / "not-here")})

    def test_command(self):
        space = self.directory / "space"
        self.assertEqual(call(str(self.prefix / "bin/afteryou"), "run", "-S", str(space), "x", "--", "echo", "in"), "in\n")
        self.assertEqual(call(str(self.prefix / "libexec/afteryou/flock"), "-n", str(space) + ".lock", "echo", "in",
                              environment={"AFTERYOU_DIR": str(self.directory)}), "in\n")  # not the default space of this machine
        if os.environ["WITH_COROSYNC"] == "yes":
            self.assertIn("usage: afteryou agent", call(str(self.prefix / "bin/afteryou"), "agent", "--help"))

    def test_python_module(self):
        """It finds the library of its own prefix."""
        module, = self.prefix.glob("lib/python3*/*-packages/afteryou")
        line = ("import afteryou, afteryou._library, afteryou.filelock, afteryou.multiprocessing, sys\n"
                "with afteryou.Space(sys.argv[1]) as space, space.region('x'): print(afteryou._library.library._name)")
        self.assertTrue((module / "py.typed").exists())
        shown = call("python3", "-c", line, str(self.directory / "python"), environment={"PYTHONPATH": str(module.parent), "LIBAFTERYOU": ""})
        self.assertTrue(shown.startswith(str(self.prefix.resolve())), shown)

    def test_library(self):
        pkgconfig, = self.prefix.glob("lib/**/pkgconfig")
        self.assertIn(f"-I{self.prefix}/include", call("pkg-config", "--cflags", "afteryou", environment={"PKG_CONFIG_PATH": str(pkgconfig)}))

    def test_playground(self):
        page = self.prefix / "share/doc/afteryou/playground.html"
        self.assertIn("<title>afteryou: the playground</title>", page.read_text(encoding="utf-8"))

    def test_cited_pages_are_there(self):
        """What a page cites of ours can be read."""
        cited = set()
        for page in MANUAL.glob("*.[0-9]"):
            text = page.read_text().replace("\\-", "-")
            cited.update(re.findall(r"^\.(?:Xr|BR) ((?:afteryou|ay_)[\w-]*) \(?(\d)", text, re.M))
        self.assertGreater(len(cited), 10)
        there = {tuple(page.name.rsplit(".", 1)) for page in self.prefix.glob("share/man/man*/*")}
        self.assertEqual(cited - there, set())
        functions = re.findall(r"^    (ay_\w+);", (ROOT / "src/memory/libafteryou.map").read_text(), re.M)
        self.assertEqual({(name, "3") for name in functions} - there, set())

    def test_completions(self):
        for path in ("bash-completion/completions/afteryou", "zsh/site-functions/_afteryou", "fish/vendor_completions.d/afteryou.fish"):
            self.assertTrue((self.prefix / "share" / path).exists(), path)

    def test_destdir(self):
        call(str(ROOT / "dev"), "install", environment={"DESTDIR": str(self.directory / "stage"), "PREFIX": str(self.prefix)})
        below = self.directory / "stage" / str(self.prefix).lstrip("/")
        self.assertEqual({path.relative_to(below) for path in below.rglob("*")}, {path.relative_to(self.prefix) for path in self.prefix.rglob("*")
                                                                                if "__pycache__" not in str(path)})


class Packages(unittest.TestCase):
    def test_pages_are_where_their_command_is(self):
        command = (ROOT / "debian/afteryou.install").read_text()
        self.assertIn("man1/afteryou.1\n", command)
        self.assertIn("man7/afteryou.7\n", command)
        self.assertNotIn("man7", (ROOT / "debian/libafteryou-dev.install").read_text())

    def test_purge(self):
        script = ROOT / "debian/afteryou-cluster.postrm"
        call("sh", "-n", str(script))
        state = re.search(r"^StateDirectory=(\w+)$", self.unit(), re.M).group(1)
        self.assertRegex(script.read_text(), rf"rm -rf .*/var/lib/{state}\b")

    @staticmethod
    def unit():
        return (ROOT / "systemd/afteryou-agent@.service.in").read_text()

    def test_an_upgrade_restarts_the_agents(self):
        """The package restarts the target, and with it whatever is part of it."""
        self.assertIn("\nPartOf=afteryou-agent.target\n", self.unit())
        self.assertTrue((ROOT / "systemd/afteryou-agent.target").exists())
        self.assertIn("lib/systemd/system/*", (ROOT / "debian/afteryou-cluster.install").read_text())

    @unittest.skipUnless(shutil.which("systemd-analyze"), "needs systemd-analyze")
    def test_the_unit_is_bounded(self):
        """Exposure 3.0 at most, of 10."""
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "afteryou-agent@test.service"
            path.write_text(self.unit().replace("@bindir@/afteryou", "/bin/true"))
            call("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=30", str(path))


if __name__ == "__main__":
    unittest.main()
