# SPDX-License-Identifier: MIT
"""`cancel`: ends the wait of a process, and puts nobody out."""
import json
import unittest

from support import CommandTest, wait_until


class Cancel(CommandTest):
    def seen(self):
        return json.loads(self.afteryou("status", "-S", self.space, "--json").stdout)["spaces"][0]["seen"]

    def test_a_wait_is_ended(self):
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        waiting = self.start("--", "true")
        place = wait_until(lambda: next((place for place in self.seen() if place["state"] == "waiting"), None))
        name, pid = place["names"][0], place["pid"]
        result = self.afteryou("cancel", "-S", self.space, name, "--pid", str(pid))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(waiting.wait(), 125)
        table = self.afteryou("status", "-S", self.space).stdout
        self.assertIn("cancelled by", table)
        self.assertIn(" inside ", table)
        self.assertEqual([place["pid"] for place in self.seen() if place["cancelled_by"]], [pid])
        again = self.afteryou("cancel", "-S", self.space, name, "--pid", str(pid))
        self.assertEqual(again.returncode, 1)
        self.assertIn("does not wait", again.stderr)

    def test_no_holder_is_put_out(self):
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        place = wait_until(lambda: next((place for place in self.seen() if place["state"] == "inside"), None))
        result = self.afteryou("cancel", "-S", self.space, place["names"][0], "--pid", str(place["pid"]))
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"kill {place['pid']}", result.stderr)

    def test_wrong_words(self):
        for words, told in (([], "which region"), (["x"], "which process"), (["x", "y", "--pid", "1"], "which region"),
                            (["x", "--pid", "0"], "pid"), (["x", "--pid", "1", "-S", self.space + "-none"], "")):
            result = self.afteryou("cancel", *words)
            self.assertEqual(result.returncode, 125, words)
            self.assertIn(told, result.stderr)


if __name__ == "__main__":
    unittest.main()
