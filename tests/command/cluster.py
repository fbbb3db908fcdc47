# SPDX-License-Identifier: MIT
"""`afteryou cluster init`: the files it writes, and what it refuses. That Corosync takes them is shown in tests/cluster."""
import os
import re
import stat
import unittest

from support import CommandTest

THREE = "a=10.0.0.1,b=10.0.0.2,c=10.0.0.3"


class Init(CommandTest):
    def init(self, *words):
        return self.afteryou("cluster", "init", *words, cwd=self.directory)

    def test_files(self):
        shown = self.init("--nodes", THREE, "--name", "prod", "--directory", "out/put", "--token", "2000")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        key, configuration = self.directory / "out/put/authkey", self.directory / "out/put/corosync.conf"
        self.assertEqual(stat.S_IMODE(os.stat(key).st_mode), 0o400)
        self.assertGreaterEqual(os.stat(key).st_size, 128, "Corosync wants 1024 bits")
        text = configuration.read_text()
        for line in ("cluster_name: prod", "transport: knet", "crypto_cipher: aes256", "crypto_hash: sha256", "token: 2000",
                     "provider: corosync_votequorum"):
            self.assertRegex(text, rf"(?m)^\s*{line}$")
        self.assertNotRegex(text, r"(?m)^\s*two_node")
        self.assertEqual(re.findall(r"name: (\w+)\s+nodeid: (\d+)\s+ring0_addr: (\S+)", text),
                         [("a", "1", "10.0.0.1"), ("b", "2", "10.0.0.2"), ("c", "3", "10.0.0.3")])
        for address in ("10.0.0.1", "10.0.0.2", "10.0.0.3"):
            self.assertIn(f"scp -p out/put/corosync.conf out/put/authkey root@{address}:/etc/corosync/", shown.stdout)
        self.assertIn("afteryou-agent@prod", shown.stdout)

    def test_keys_differ(self):
        for name in ("one", "two"):
            self.assertEqual(self.init("--nodes", THREE, "--directory", name).returncode, 0)
        self.assertNotEqual((self.directory / "one/authkey").read_bytes(), (self.directory / "two/authkey").read_bytes())

    def test_nothing_is_overwritten_unless_told(self):
        self.assertEqual(self.init("--nodes", THREE).returncode, 0)
        before = {name: (self.directory / name).read_bytes() for name in ("authkey", "corosync.conf")}
        for absent in (None, "authkey", "corosync.conf"):
            if absent:
                os.rename(self.directory / absent, self.directory / "aside")
            shown = self.init("--nodes", THREE)
            self.assertEqual(shown.returncode, 125)
            self.assertIn("--force", shown.stderr)
            if absent:
                self.assertFalse((self.directory / absent).exists(), "nothing is written when one is there")
                os.rename(self.directory / "aside", self.directory / absent)
        self.assertEqual(before, {name: (self.directory / name).read_bytes() for name in before})
        self.assertEqual(self.init("--nodes", THREE, "--force").returncode, 0)
        self.assertNotEqual(before["authkey"], (self.directory / "authkey").read_bytes())
        self.assertEqual(stat.S_IMODE(os.stat(self.directory / "authkey").st_mode), 0o400)

    def test_refused(self):
        for nodes, expected in (
                ("a=10.0.0.1,a=10.0.0.2", "two machines are called 'a'"),
                ("a=10.0.0.1,b=10.0.0.1", "same address"),
                ("a=10.0.0.1", "two machines or more"),
                ("a=10.0.0.300,b=10.0.0.2", "is no IPv4 address"),
                ("a=10.0.0,b=10.0.0.2", "is no IPv4 address"),
                ("a=fd00:::1,b=fd00::2", "is no IPv6 address"),
                ("a=fd00::1,b=10.0.0.2", "IPv4 and IPv6"),
                ("a=127.0.0.1,b=10.0.0.2", "the machine itself"),
                ("a=localhost,b=10.0.0.2", "the machine itself"),
                ("a=::1,b=fd00::2", "the machine itself"),
                ("a=224.0.0.1,b=10.0.0.2", "multicast"),
                ("a=0.0.0.0,b=10.0.0.2", "no address of a machine"),
                ("a=fe80::1,b=fd00::2", "link-local"),
                ("a=under_score.example,b=10.0.0.2", "neither an IP address nor the name of a host"),
                ("a=-x,b=10.0.0.2", "neither an IP address nor the name of a host"),
                ("a,b", "NAME=ADDRESS"),
                ("", "NAME=ADDRESS"),
                ("a=10.0.0.1,", "NAME=ADDRESS"),
                ("a=,b=10.0.0.2", "no address"),
                ("=10.0.0.1,b=10.0.0.2", "no name for a machine"),
                ("a b=10.0.0.1,b=10.0.0.2", "no name for a machine"),
                ("a\n}=10.0.0.1,b=10.0.0.2", "no name for a machine"),
                (",".join(f"n{at}=10.0.1.{at}" for at in range(1, 40)), "more than 32")):
            shown = self.init("--nodes", nodes)
            self.assertEqual(shown.returncode, 125, nodes)
            self.assertIn(expected, shown.stderr, nodes)
            self.assertEqual(os.listdir(self.directory), [], nodes)

    def test_refused_words(self):
        for words, expected in (((), "init needs --nodes"), (("--nodes", THREE, "--name", "a/b"), "no name for a cluster"),
                                (("--nodes", THREE, "--token", "5"), "milliseconds"), (("--nodes", THREE, "more"), "options only"),
                                (("--nodes", THREE, "--down"), "does not go with 'init'"), (("--nodes", THREE, "--directory", ""), "empty")):
            shown = self.init(*words)
            self.assertEqual(shown.returncode, 125, words)
            self.assertIn(expected, shown.stderr, words)

    def test_an_unwritable_directory(self):
        (self.directory / "file").write_text("")
        shown = self.init("--nodes", THREE, "--directory", "file/below")
        self.assertEqual(shown.returncode, 125)
        self.assertIn("Not a directory", shown.stderr)

    def test_warned_of_an_even_number(self):
        for count, warned in ((2, True), (3, False), (4, True), (5, False)):
            nodes = ",".join(f"n{at}=10.0.0.{at}" for at in range(1, count + 1))
            shown = self.init("--nodes", nodes, "--force")
            self.assertEqual(shown.returncode, 0)
            self.assertEqual("majority" in shown.stderr, warned, count)

    def test_hosts_and_ipv6(self):
        self.assertEqual(self.init("--nodes", "a=db1.example.org,b=db2,c=db-3").returncode, 0)
        shown = self.init("--nodes", "a=fd00::1,b=fd00::2,c=fd00::3", "--force")
        self.assertEqual(shown.returncode, 0)
        self.assertIn("root@[fd00::1]:/etc/corosync/", shown.stdout)


class Words(CommandTest):
    def test_refused(self):
        for words, expected in (((), "'init' or 'try'"), (("start",), "there are init and try"), (("--bad",), "there is no option --bad"),
                                (("try", "--nodes", "1"), "try takes 2 to 9 machines"), (("try", "jump", "a"), "there are exec, cut, heal, off and on"),
                                (("try", "--force"), "does not go with 'try'"), (("init", "--bare"), "does not go with 'init'"), (("try", "--down", "a"), "goes alone"),
                                (("try", "exec", "a"), "a machine and a command")):
            shown = self.afteryou("cluster", *words)
            self.assertEqual(shown.returncode, 125, words)
            self.assertIn(expected, shown.stderr, words)

    def test_no_trial(self):
        where = ("--directory", str(self.directory / "none"))
        for words in (("exec", "a", "--", "true"), ("cut", "a"), ("heal", "a")):
            shown = self.afteryou("cluster", "try", *where, *words)
            self.assertEqual(shown.returncode, 125)
            self.assertIn("no trial runs", shown.stderr)
        shown = self.afteryou("cluster", "try", *where, "--down")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
