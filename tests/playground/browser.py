# SPDX-License-Identifier: MIT
"""A headless Chromium with the playground in it, and what a person does there."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIP = 77
SECONDS_MOST = 60  # for anything on the page: generous, since machines are loaded
# Has axe-core, once it is in the page, say what it finds.
JUDGE = """const done = arguments[0];
axe.run({resultTypes: ['violations']}).then((result) => done(result.violations.map((each) => `${each.id}: ${each.nodes.slice(0, 3)
    .map((node) => node.html.slice(0, 160) + ' ' + (node.any[0]?.message || '')).join(' | ')}`)))"""


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(SKIP)


def need_selenium():
    """Debian's module is Debian's python's: where another one runs this, that one takes over."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        if os.path.realpath(sys.executable) == os.path.realpath("/usr/bin/python3") or not os.path.exists("/usr/bin/python3"):
            skip("python3-selenium is missing")
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])


def need_programs():
    for program, package in (("chromium", "chromium"), ("chromedriver", "chromium-driver"), ("clang", "clang"), ("wasm-ld", "lld")):
        if not shutil.which(program) and not glob.glob(f"/usr/lib/llvm-*/bin/{program}"):
            skip(f"{package} is missing")
    if not os.path.exists("/usr/lib/wasm32-wasi/libc.a"):
        skip("wasi-libc is missing")
    if not glob.glob("/usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a"):
        skip("libclang-rt-dev-wasm32 is missing")


def build_page(build):
    """build/playground.html, made anew if something that it is made of is newer."""
    page = os.path.join(build, "playground.html")
    subprocess.run([sys.executable, os.path.join(ROOT, "web", "build.py"), "--if-older", "--output", page,
                    "--wasm", os.path.join(build, "playground.wasm")], check=True)
    return page


class Browser:
    def __init__(self, page):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
        self.page = "file://" + os.path.abspath(page)
        self.downloads = tempfile.mkdtemp(prefix="afteryou-playground-")
        options = Options()
        options.binary_location = shutil.which("chromium")
        words = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1366,1000",
                 f"--user-data-dir={self.downloads}/profile"]
        for word in words + (["--no-sandbox"] if os.geteuid() == 0 else []):
            options.add_argument(word)
        options.add_experimental_option("prefs", {"download.default_directory": self.downloads})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.downloads, ignore_errors=True)

    def open(self, fragment=""):
        """A fresh page: nothing is left of the one before."""
        self.driver.get("about:blank")
        self.driver.get(self.page + fragment)
        self.wait("return document.documentElement.dataset.ready")

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, what=None):
        """Until the script's value is true; returns it."""
        end = time.monotonic() + SECONDS_MOST
        while time.monotonic() < end:
            value = self.js(script)
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"not within {SECONDS_MOST} s: {what or script}")

    def click(self, selector):
        """As a person clicks: what is not there, or cannot be clicked, fails."""
        done = self.js("""const element = document.querySelector(arguments[0]);
            if (!element || element.disabled) return false;
            element.scrollIntoView({block: 'center'});
            element.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
            return true;""", selector)
        assert done, f"nothing to click at {selector}"

    def judge(self, axe, what):
        """By axe-core's own script, in both themes, with all that can be unfolded."""
        self.js(axe)
        self.js("document.querySelectorAll('details').forEach((each) => each.open = true)")
        themes = set()
        for _ in range(2):
            self.click("#theme")
            themes.add(self.js("return document.documentElement.dataset.theme"))
            found = self.driver.execute_async_script(JUDGE)
            assert found == [], f"{what}, {themes}: {found}"
        assert themes == {"light", "dark"}

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def count(self, selector):
        return self.js("return document.querySelectorAll(arguments[0]).length", selector)

    def moves(self, moves):
        for move in moves:
            self.click(f'[data-move="{move}"]')

    def statuses(self):
        return self.js("return [...document.querySelectorAll('.column .status')].map((each) => each.textContent)")

    def keys(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains
        actions = ActionChains(self.driver)
        for key in keys:
            actions.send_keys(key)
        actions.perform()

    def complaints(self):
        """What the browser itself had to complain about."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def run_tests(names, build, wanted):
    """Every test_… of the names, or those wanted, in one browser. An exit status."""
    need_selenium()
    need_programs()
    browser = Browser(build_page(build))
    tests = {name[len("test_"):]: test for name, test in names.items() if name.startswith("test_")}
    failed = 0
    try:
        for name, test in tests.items():
            if wanted and name not in wanted:
                continue
            began = time.monotonic()
            try:
                test(browser)
                complaints = browser.complaints()
                assert not complaints, f"the browser complains: {complaints}"
                print(f"ok   {name.replace('_', ' ')} ({time.monotonic() - began:.1f} s)", flush=True)
            except Exception as error:  # the next test still says what it finds
                failed += 1
                print(f"FAIL {name.replace('_', ' ')}: {type(error).__name__}: {error}", flush=True)
    finally:
        browser.close()
    return 1 if failed else 0
