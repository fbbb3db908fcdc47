#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes the pictures of the playground and of the live page that the documents show.

usage: pictures.py BUILD_DIRECTORY DIRECTORY     (./dev playground pictures)
"""
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(os.path.dirname(HERE), "tests")
sys.path[:0] = [os.path.join(TESTS, "playground"), os.path.join(TESTS, "live")]
from browser import Browser, build_page, need_programs, need_selenium  # noqa: E402
from support import Scene  # noqa: E402


def take(browser, directory, name):
    browser.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(() => arguments[0]()))")
    browser.driver.save_screenshot(os.path.join(directory, f"{name}.png"))


def people_come(scene):
    """A minute of what happens: a queue that moves, a holder that is killed, units, and a deadlock."""
    scene.kept_deadlock()
    for _ in range(3):
        scene.run("gpu", "--take", "2", "--of", "8")
    killed = scene.run("deploy")
    scene.await_states("deploy", ["inside"])
    for seconds in (9, 14, 1000, 1000):
        scene.run("deploy", command=("sleep", str(seconds)))
        time.sleep(0.5)
    time.sleep(8)
    scene.end(killed)
    time.sleep(30)


def take_live(build, directory):
    browser = Browser("nothing.html")
    try:
        with Scene(os.path.join(os.path.abspath(build), "afteryou")) as scene:
            _, browser.page = scene.serve("127.0.0.1:0")
            browser.driver.set_window_size(1180, 1020)
            browser.open()
            browser.js("const span = document.querySelector('#span'); span.value = '1'; span.dispatchEvent(new Event('change'))")
            people_come(scene)
            for theme in ("light", "dark"):
                while browser.js("return document.documentElement.dataset.theme") != theme:
                    browser.click("#theme")
                time.sleep(1.5)
                take(browser, directory, f"live-{theme}")
    finally:
        browser.close()


def main():
    need_selenium()
    need_programs()
    build, directory = sys.argv[1:3]
    take_live(build, directory)
    browser = Browser(build_page(build))
    try:
        browser.driver.set_window_size(1400, 1060)
        browser.open()
        browser.click("#show-me")
        for _ in range(8):
            browser.click("#guide-next")
        take(browser, directory, "playground-figure-4")
        browser.open("#view=step&check=ricart-agrawala+-n+3&moves=AbBbCy")
        take(browser, directory, "playground-messages")
        browser.open("#view=levels")
        browser.click("#theme")
        take(browser, directory, "playground-levels")
        browser.open("#view=check&check=bakery+-n+3+--modes+exclusive")
        browser.click("#start-check")
        browser.wait("return document.querySelector('.verdict')")
        take(browser, directory, "playground-check")
    finally:
        browser.close()


if __name__ == "__main__":
    main()
