#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""axe-core on every view of the playground, in both themes, on a laptop and on a phone.

usage: access.py BUILD_DIRECTORY     axe-core is in BUILD_DIRECTORY/axe (./dev test fetches it by npm)
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import run_tests, skip  # noqa: E402

VIEWS = ["#view=home", "#view=step&check=token+-n+3&moves=BbAy",
         "#view=step&check=races-printed+-n+2&moves=AbAsAsBbAsAsAsBsBsAsAsBsBsAsAsBsBsBsBsBs", "#view=check&check=races-printed+-n+2",
         "#view=step&check=link&moves=AbAf6Bf8Af12", "#view=levels", "#view=play&level=bakery-without-choosing+-n+2", "#view=about"]

AXE = os.path.join(sys.argv[1], "axe", "node_modules", "axe-core", "axe.min.js")


def judge_views(browser, width, views):
    with open(AXE, encoding="utf-8") as file:
        script = file.read()
    browser.driver.set_window_size(width, 1000)
    for view in views:
        browser.open(view)
        browser.judge(script, f"{view} at {width}")


def test_no_violation_on_a_laptop(browser):
    judge_views(browser, 1366, VIEWS)


def test_no_violation_on_a_phone(browser):
    judge_views(browser, 420, VIEWS[1:2])


def test_nothing_is_wider_than_a_phone(browser):
    browser.driver.set_window_size(500, 1000)  # as narrow as a window can be; the page in it is a phone's
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False})
    for view in (*VIEWS, "#view=step&check=courtesy+-n+3&moves=AbBbCb", "#view=step&check=forks+-n+3"):
        browser.open(view)
        if "view=check" in view:
            browser.click("#start-check")
            browser.wait("return document.querySelector('.verdict')")
        wide = browser.js("return document.documentElement.scrollWidth")
        assert wide <= 390, f"{view} is {wide} wide"
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


if __name__ == "__main__":
    if not os.path.exists(AXE):
        skip("axe-core is missing: npm install --prefix build/axe axe-core")
    sys.exit(run_tests(globals(), sys.argv[1], sys.argv[2:]))
