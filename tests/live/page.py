#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The live page in a real browser: real commands appear, one is killed, the next goes in; links, filter, a deadlock, a crowd.

usage: page.py BUILD_DIRECTORY [NAME...]     axe-core is in BUILD_DIRECTORY/axe (./dev test fetches it by npm)
"""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "playground")]
from browser import Browser, need_selenium, skip  # noqa: E402
from support import Scene, run_tests  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
AFTERYOU = os.path.join(BUILD, "afteryou")
AXE = os.path.join(BUILD, "axe", "node_modules", "axe-core", "axe.min.js")
# The colour in the corner of the space-time diagram, once that is drawn.
PAPER = """(() => {
    const image = document.querySelector('#spacetime'), canvas = document.createElement('canvas');
    if (!image.complete) return null;
    canvas.getContext('2d').drawImage(image, 0, 0);
    return [...canvas.getContext('2d').getImageData(2, 2, 1, 1).data].slice(0, 3);
})()"""
HOSTILE = "<script>document.title='broken in'</script><img src=x onerror=alert(1)>"


def states(browser, region, space="default"):
    """Of the region's rows, in their order."""
    return browser.js("""const panel = document.querySelector(`[data-region="${CSS.escape(arguments[0])}"]`);
        return panel ? [...panel.querySelectorAll('[data-row]')].map((row) => row.dataset.state) : []""", f"{space}/{region}")


def await_states(browser, region, expected):
    script = f"""const panel = document.querySelector('[data-region="' + CSS.escape('default/{region}') + '"]');
        return JSON.stringify(panel ? [...panel.querySelectorAll('[data-row]')].map((row) => row.dataset.state) : [])"""
    wanted = "[" + ",".join(f'"{state}"' for state in expected) + "]"
    browser.wait(f"return (() => {{{script}}})() === '{wanted}'", f"{region}: {expected}")


class Open:
    """A scene, and a browser that shows it."""

    def __init__(self, browser, *words):
        self.browser, self.words = browser, words or ("127.0.0.1:0",)

    def __enter__(self):
        self.scene = Scene(AFTERYOU)
        self.server, self.url = self.scene.serve(*self.words)
        self.browser.page = self.url
        self.browser.open()
        return self.scene

    def __exit__(self, *_):
        self.browser.driver.get("about:blank")  # the stream ends before the server does
        self.scene.close()


def test_commands_appear_and_the_next_goes_in_when_one_is_killed(browser):
    with Open(browser) as scene:
        browser.wait("return /Nobody is here/.test(document.body.textContent)")
        assert browser.js("return document.querySelector('.graph').hidden"), "nobody waits: there is no empty panel"
        first = scene.run("deploy")
        await_states(browser, "deploy", ["inside"])
        pid = browser.text("[data-row] .number:nth-of-type(5)")
        scene.run("deploy")
        await_states(browser, "deploy", ["inside", "waiting"])
        browser.wait("return document.querySelector('.waits .wait')", "an arrow from who waits")
        first.kill()
        browser.wait(f"""return [...document.querySelectorAll('[data-row]')].some((row) => row.dataset.state === 'inside'
            && row.querySelector('.number:nth-of-type(5)').textContent !== '{pid}')""", "the next one")
        browser.wait("return document.querySelectorAll('.bands .hold').length >= 2", "both are in the band chart")
        assert browser.text('[data-total="inside"] strong') == "1"


def test_who_died_inside_is_shown(browser):
    with Open(browser) as scene:
        process = scene.run("x")
        await_states(browser, "x", ["inside"])
        scene.end(process)
        await_states(browser, "x", ["died-inside"])
        browser.wait("return document.querySelector('.bands .died .cross')", "and marked in the band chart")


def test_names_and_commands_are_text(browser):
    with Open(browser) as scene:
        scene.run(HOSTILE, command=("sh", "-c", "sleep 1000", HOSTILE))
        browser.wait("return document.querySelector('.region-name')")
        assert browser.text(".region-name") == HOSTILE
        assert "<script>" in browser.text("td.command"), "as much of it as a place keeps"
        assert browser.count("main img") == browser.count("main script") == 0
        assert browser.js("return document.title") == "afteryou: live"
        browser.click(".region-name")
        browser.wait("return document.querySelector('.region.linked')", "its link leads to it")


def test_the_token_is_needed_and_kept(browser):
    with Open(browser, "0.0.0.0:0") as scene:
        # The URL names the machine; here it is asked for as localhost.
        whole = browser.page
        with_token = "http://localhost:" + whole.rpartition(":")[2]
        scene.run("x")
        browser.driver.get(with_token.partition("?")[0])
        assert "token is missing or wrong" in browser.text("body")
        browser.driver.get(with_token)
        await_states(browser, "x", ["inside"])
        browser.complaints()  # of the refusal, which was asked for


def test_a_link_leads_to_each_row(browser):
    with Open(browser) as scene:
        for name in ("a", "b", "c"):
            scene.run(name)
            await_states(browser, name, ["inside"])
        row = browser.js("return document.querySelector('[data-region=\"default/b\"] [data-row]').dataset.row")
        link = browser.js("return document.querySelector('[data-region=\"default/b\"] [data-row] a').getAttribute('href')")
        browser.open(link)
        assert browser.js("return document.querySelector('.linked').dataset.row") == row
        browser.open("#row=default/77/99")
        assert "is not here (any more)" in browser.text("#banner")
        browser.open("#%%%&row=%ff&filter=" + "x" * 5000)
        assert browser.text("#filter") is not None, "and the page goes on"


def test_the_filter_shows_what_fits_and_is_in_the_link(browser):
    with Open(browser) as scene:
        for name in ("apple", "banana", "cherry"):
            scene.run(name)
            await_states(browser, name, ["inside"])
        browser.js("const box = document.querySelector('#filter'); box.value = 'BANANA inside'; box.dispatchEvent(new Event('input'))")
        assert browser.js("return [...document.querySelectorAll('.region')].map((each) => each.dataset.region)") == ["default/banana"]
        assert browser.text('[data-total="inside"] strong') == "1"
        browser.open(browser.js("return location.hash"))
        assert browser.count(".region") == 1 and browser.js("return document.querySelector('#filter').value") == "BANANA inside"
        browser.js("const box = document.querySelector('#filter'); box.value = 'nobody'; box.dispatchEvent(new Event('input'))")
        assert "Nothing fits" in browser.text("main")


def test_slots_and_units_are_cells(browser):
    with Open(browser) as scene:
        for _ in range(2):
            scene.run("gpu", "--take", "2", "--of", "6")
        for _ in range(2):
            scene.run("pool", "-k", "3")
        await_states(browser, "gpu", ["inside"] * 2)
        await_states(browser, "pool", ["inside"] * 2)
        count = "return document.querySelectorAll('[data-region=\"default/' + arguments[0] + '\"] .cell' + arguments[1]).length"
        assert [browser.js(count, name, which) for name in ("gpu", "pool") for which in ("", ".taken")] == [6, 4, 3, 2]


def test_a_deadlock_is_red(browser):
    with Open(browser) as scene:
        scene.kept_deadlock()
        browser.wait("return document.querySelector('.deadlock')", "it is told")
        assert "waits for 'left' after" in browser.text(".deadlock") and "waits for 'right' after" in browser.text(".deadlock")
        assert browser.count(".waits .wait.circle") == browser.count(".waits .box.circle") == 2
        colour = browser.js("return getComputedStyle(document.querySelector('.wait.circle .line')).stroke")
        assert colour == browser.js("return getComputedStyle(document.querySelector('.deadlock')).color"), colour


def test_it_says_when_it_is_not_live(browser):
    with Open(browser) as scene:
        scene.run("x")
        await_states(browser, "x", ["inside"])
        browser.click("#pause")
        assert browser.text("#state") == "paused"
        scene.run("y")
        scene.await_states("y", ["inside"])
        assert states(browser, "y") == []
        browser.click("#pause")
        await_states(browser, "y", ["inside"])
        scene.end(scene.processes[0])
        browser.wait("return document.querySelector('#state').dataset.state === 'lost'")
        browser.complaints()  # that the server has gone


def test_of_thousands_those_in_sight_are_drawn(browser):
    """What has changed is told alone; what is shown is what was seen, whatever is left out of the picture."""
    with Open(browser) as scene:
        crowd = scene.crowd(1500)
        browser.wait("return document.querySelector('[data-total=inside] strong')?.textContent === '1,500'")
        browser.open()  # told whole
        browser.wait("return document.querySelector('[data-total=inside] strong')?.textContent === '1,500'")
        assert browser.count("section.region") <= 60
        first = scene.run("aaa")
        await_states(browser, "aaa", ["inside"])
        assert browser.js("return document.querySelector('section.region').dataset.region") == "default/aaa", "it is where it belongs"
        scene.run("aaa")
        await_states(browser, "aaa", ["inside", "waiting"])
        scene.end(first)
        await_states(browser, "aaa", ["inside"])
        browser.js("const box = document.querySelector('#filter'); box.value = 'held-1234'; box.dispatchEvent(new Event('input'))")
        assert browser.js("return [...document.querySelectorAll('.region')].map((each) => each.dataset.region)") == ["default/held-1234"]
        browser.js("const box = document.querySelector('#filter'); box.value = ''; box.dispatchEvent(new Event('input'))")
        crowd.stdin.close()
        browser.wait("return document.querySelector('[data-total=inside] strong')?.textContent === '1'", "all that left are gone")
        browser.wait("return document.querySelectorAll('section.region').length === 1")


def test_a_recorded_run_is_a_page_of_its_own(browser):
    """AFTERYOU_TRACE, audit --html: the same bands, from disk."""
    with Scene(AFTERYOU) as scene:
        trace, page = os.path.join(scene.directory, "trace"), os.path.join(scene.directory, "run.html")
        scene.environment["AFTERYOU_TRACE"] = trace
        for name in ("x", "x", HOSTILE):
            assert scene.run(name, command=("true",)).wait(60) == 0
        assert scene.start("audit", trace, "--html", page, stdout=subprocess.DEVNULL).wait(60) == 0
        browser.page = "file://" + page
        browser.open()
        assert browser.text("#verdict") == "All that was judged holds"
        assert browser.js("return [...document.querySelectorAll('[data-region]')].map((each) => each.querySelectorAll('.hold').length)") == [2, 1]
        assert browser.count("main script") == 0 and HOSTILE in browser.text("main")
        assert browser.text("[data-region] h2").startswith("x in /"), "the space that all have in common is told apart"
        browser.wait("return document.querySelector('#spacetime').naturalWidth > 0", "the diagram is drawn")
        for theme, paper in (("light", [255, 255, 255]), ("dark", [24, 33, 43]), ("light", [255, 255, 255])):
            if browser.js("return document.documentElement.dataset.theme") != theme:
                browser.click("#theme")
            browser.wait(f"return JSON.stringify({PAPER}) === '{json.dumps(paper, separators=(',', ':'))}'", f"the diagram is {theme}, like its page")
        wide = browser.js("return document.querySelector('.bands').clientWidth")
        browser.js("const zoom = document.querySelector('#zoom'); zoom.value = 2; zoom.dispatchEvent(new Event('input'))")
        assert browser.js("return document.querySelector('.bands').clientWidth") == 4 * wide
        if os.path.exists(AXE):
            with open(AXE, encoding="utf-8") as file:
                browser.judge(file.read(), "the recorded run")


def test_axe_finds_no_violation(browser):
    if not os.path.exists(AXE):
        print("     skipped: axe-core is missing: npm install --prefix build/axe axe-core")
        return
    with open(AXE, encoding="utf-8") as file:
        axe = file.read()
    with Open(browser) as scene:
        scene.kept_deadlock()
        scene.end(scene.run("died"))
        for _ in range(3):
            scene.run("gpu", "--take", "2", "--of", "4")
            scene.run(HOSTILE, "-s")
        browser.wait("return document.querySelectorAll('[data-row]').length >= 10")
        for width in (1366, 420):
            browser.driver.set_window_size(width, 1000)
            browser.open()
            browser.judge(axe, f"at {width}")
            assert browser.js("return document.documentElement.scrollWidth <= innerWidth"), f"nothing is wider than {width}"
        browser.driver.set_window_size(1366, 1000)


def main():
    need_selenium()
    for program, package in (("chromium", "chromium"), ("chromedriver", "chromium-driver")):
        if not shutil.which(program):
            skip(f"{package} is missing")
    browser = Browser("nothing.html")

    def judged(test):
        def run():
            test(browser)
            complaints = browser.complaints()
            assert not complaints, f"the browser complains: {complaints}"
        return run

    try:
        return run_tests({name: judged(test) for name, test in globals().items() if name.startswith("test_")}, sys.argv[2:])
    finally:
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
