# SPDX-License-Identifier: MIT
"""What tools/performance.py makes of rows: which bars are met, which reasons are told, which figures the README gets."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import performance  # noqa: E402

HEAD = ("case,peer,samples,median_ns,low_ns,high_ns,p99_ns,ratio,spread,passages_per_second,fairness,overtaken,overtaken_in_queue,"
        "cpu_ns,trusted,note\n")


def row(case, peer, ns, ratio, in_queue="", trusted="yes"):
    return f"{case},{peer},7,{ns},{ns},{ns},{ns},{ratio},0,1000,1,3,{in_queue},{ns},{trusted},\n"


def run_of(*rows):
    with tempfile.TemporaryDirectory() as folder:
        csv, instructions = pathlib.Path(folder, "rows.csv"), pathlib.Path(folder, "instructions.csv")
        csv.write_text(HEAD + "machine,processors,,,,,,,,,,,,,,2\n" + "".join(rows))
        instructions.write_text("peer,instructions,note\nrobust,138.0,\ncourtesy-retain,,not there\n")
        return performance.Run([csv], instructions)


def bar(name, run, reasons=()):
    lines = performance.made_bars(run, dict(reasons)).splitlines()[2:]
    found = [line for one, line in zip(performance.BARS, lines) if one.name == name]
    return [cell.strip() for cell in found[0].strip("|").split("|")][1:]


class Document(unittest.TestCase):
    def test_bar_met(self):
        run = run_of(row("alone-2", "robust", 10, 1), row("alone-2", "courtesy", 12, 1.2))
        self.assertEqual(bar("alone-2", run, {"alone-2": "old reason"}), ["≤ 1.2", "1.20", "yes", ""])

    def test_bar_not_met(self):
        run = run_of(row("alone-2", "robust", 10, 1), row("alone-2", "courtesy", 13, 1.3))
        self.assertEqual(bar("alone-2", run, {"alone-2": "because"}), ["≤ 1.2", "1.30", "**no**", "because"])
        self.assertEqual(bar("alone-2", run), ["≤ 1.2", "1.30", "**no**", "no reason is known yet"])

    def test_bar_not_measured(self):
        self.assertEqual(bar("alone-2", run_of()), ["≤ 1.2", "", "", "not measured in this run"])

    def test_bar_noisy(self):
        run = run_of(row("alone-2", "robust", 10, 1, trusted="noisy: a storm"), row("alone-2", "courtesy", 10, 1, trusted="noisy: a storm"))
        self.assertEqual(bar("alone-2", run)[1], "1.00, noisy")
        self.assertIn("- `alone-2`: noisy: a storm", performance.made_trust(run))

    def test_times_faster(self):
        run = run_of(row("kill-256", "flock", 8000, 80), row("kill-256", "courtesy", 100, 1))
        self.assertEqual(bar("kill-flock", run)[:3], ["≥ 20", "80.00", "yes"])

    def test_bound(self):
        held = run_of(row("contended-2-0", "courtesy", 1, 1, 0), row("contended-2-0", "courtesy-64", 1, 1, 64))
        self.assertEqual(bar("bound-holds", held)[:3], ["≤ 0", "0.00", "yes"])
        broken = run_of(row("contended-2-0", "courtesy", 1, 1, 0), row("contended-8-0", "courtesy-4", 1, 1, 5))
        self.assertEqual(bar("bound-holds", broken)[1:3], ["1.00", "**no**"])

    def test_template(self):
        run = run_of(row("alone-2", "robust", 10, 1), row("alone-2", "courtesy", 13, 1.3))
        text = performance.fill("a\n\n{{bars}}\n\n{{reasons\nalone-2: because\n}}\n\nz\n", run)
        self.assertIn("| because |", text)
        self.assertNotIn("{{", text)
        with self.assertRaises(SystemExit):
            performance.fill("{{reasons\nno-such-bar: because\n}}\n", run)

    def test_readme(self):
        rows = [row("startup", "afteryou-run", 1200, 1.21)]
        rows += [row(case, peer, 10, 3) for case in ("alone-2", "alone-64", "contended-8-1000") for peer in ("robust", "courtesy", "courtesy-64")]
        text = performance.with_figures("x <!-- figure: startup -->old<!-- end --> y\n", run_of(*rows))
        self.assertEqual(text, "x <!-- figure: startup -->`afteryou run x -- true` took 1.21 times as long as `flock x true`<!-- end --> y\n")

    def test_readme_of_a_noisy_run(self):
        rows = [row("startup", "afteryou-run", 1200, 1.21, trusted="noisy: a storm")]
        rows += [row(case, peer, 10, 3) for case in ("alone-2", "alone-64", "contended-8-1000") for peer in ("robust", "courtesy", "courtesy-64")]
        said = performance.figures(run_of(*rows))
        self.assertIn("too busy to trust", said["startup"])
        self.assertNotIn("too busy to trust", said["alone"])


if __name__ == "__main__":
    unittest.main()
