#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes the pictures of the playground that the documents show.

usage: pictures.py BUILD_DIRECTORY DIRECTORY     (./dev playground pictures)
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "playground"))
from browser import Browser, build_page, need_programs, need_selenium  # noqa: E402


def take(browser, directory, name):
    browser.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(() => arguments[0]()))")
    browser.driver.save_screenshot(os.path.join(directory, f"playground-{name}.png"))


def main():
    need_selenium()
    need_programs()
    build, directory = sys.argv[1:3]
    browser = Browser(build_page(build))
    try:
        browser.driver.set_window_size(1400, 1060)
        browser.open()
        browser.click("#show-me")
        for _ in range(8):
            browser.click("#guide-next")
        take(browser, directory, "figure-4")
        browser.open("#view=step&check=ricart-agrawala+-n+3&moves=AbBbCy")
        take(browser, directory, "messages")
        browser.open("#view=levels")
        browser.click("#theme")
        take(browser, directory, "levels")
        browser.open("#view=check&check=bakery+-n+3+--modes+exclusive")
        browser.click("#start-check")
        browser.wait("return document.querySelector('.verdict')")
        take(browser, directory, "check")
    finally:
        browser.close()


if __name__ == "__main__":
    main()
