# SPDX-License-Identifier: MIT
"""How a suite tells what its tests said: one line each, `passed NAME`, `failed NAME` or `skipped NAME`."""
import sys
import unittest


def tell(verdict, name):
    print(verdict, name, flush=True)


class Result(unittest.TextTestResult):
    """Of unittest."""

    def _name(self, test):
        kind = type(getattr(test, "test_case", test))
        return f"{kind.__name__}.{getattr(test, 'test_case', test)._testMethodName}"

    def addSuccess(self, test):
        tell("passed", self._name(test))

    def addFailure(self, test, error):
        super().addFailure(test, error)
        tell("failed", self._name(test))

    def addError(self, test, error):
        super().addError(test, error)
        tell("failed", self._name(test))

    def addSkip(self, test, reason):
        tell("skipped", self._name(test))


def run(*classes):
    """All tests of these classes."""
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(kind) for kind in classes)
    unittest.TextTestRunner(stream=sys.stderr, resultclass=Result).run(suite)


def pytest_runtest_logreport(report):
    """Of pytest, which takes this module for a plugin."""
    name = report.nodeid.partition("::")[2]
    if report.failed:
        tell("failed", name)
    elif report.skipped:
        tell("skipped", name)
    elif report.when == "call":
        tell("passed", name)
