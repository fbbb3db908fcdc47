#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The playground in a real browser, as a file from disk: stepping, killing, checking, playing, sharing, bad links, access.

usage: page.py BUILD_DIRECTORY [NAME...]
"""
import json
import os
import re
import subprocess
import sys
import time
import xml.dom.minidom

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import ROOT, run_tests  # noqa: E402

PAIR_ENTERS = ["Ab", "As", "As", "As"]  # A, B, C, E: nobody else is there


def solutions():
    with open(os.path.join(ROOT, "web", "texts", "solutions.json"), encoding="utf-8") as file:
        return json.load(file)


def words_of(level):
    return solutions()[level]["moves"]


def marked_lines(browser):
    return browser.js("return [...document.querySelectorAll('.line.marked:not(.soft)')].map((line) => line.textContent)")


def test_steps_pair_to_inside_and_back(browser):
    browser.open("#view=step&check=pair")
    assert browser.statuses() == ["outside", "outside"]
    browser.moves(PAIR_ENTERS)
    assert browser.statuses() == ["INSIDE", "outside"]
    assert any("WRITE(F, S(registers_self(at)), PAIR_D)" in line and "P0" in line for line in marked_lines(browser)), "about to leave"
    browser.moves(["As"])
    assert browser.statuses() == ["outside", "outside"]
    for _ in range(5):
        browser.click("#back")
    assert browser.text(".place") == "0 of 5"
    assert browser.statuses() == ["outside", "outside"]
    for _ in range(4):
        browser.click("#next")
    assert browser.statuses() == ["INSIDE", "outside"]
    browser.click('[data-key="move-1"]')
    assert browser.text(".place") == "2 of 5", "a click in the list goes there"
    assert browser.text('.column[data-process="0"] dd') == "0"


def test_the_next_one_enters_when_the_holder_is_killed(browser):
    browser.open("#view=step&check=pair")
    browser.moves(PAIR_ENTERS + ["Bb", "Bs", "Bs", "Bs", "Bs"])
    assert browser.statuses() == ["INSIDE", "waiting"]
    browser.moves(["Ad"])
    assert browser.count(".diagram .dead") == 1, "a band of the dead"
    browser.moves(["Bs"])
    assert browser.statuses() == ["outside", "INSIDE"]
    assert not browser.text("#alarm"), "one is inside: nothing is broken"


def test_the_text_is_marked_where_each_stands(browser):
    browser.open("#view=step&check=pair&moves=AbBbAsBsAsAs")
    marked = marked_lines(browser)
    assert any("AWAIT(E" in line and "P0" in line for line in marked), marked
    assert any("READ(C" in line and "P1" in line for line in marked), marked
    browser.open("#view=step&check=lamport+-n+2&moves=AbBy")
    assert "case MESSAGE_REQUEST" in browser.text(".line.marked"), "what handled the last message"


def test_finds_and_shows_the_error_of_figure_4(browser):
    browser.open("#view=check&check=races-printed+-n+2")
    browser.click("#start-check")
    browser.wait("return document.querySelector('.counterexample')")
    assert "BROKEN" in browser.text('[data-property="exclusion"] .answer')
    browser.click(".counterexample")
    assert browser.text(".place") == "20 of 20"
    assert "Two are inside at once" in browser.text("#alarm")
    assert browser.statuses() == ["INSIDE", "INSIDE"]
    assert browser.count(".diagram .violation") == 1 and browser.count(".move-list .broken") == 1
    for _ in range(20):
        browser.click("#back")
    assert browser.text("#alarm") == "" and browser.statuses() == ["outside", "outside"]
    for step in range(20):
        assert browser.text("#alarm") == "", f"nothing is broken after {step} moves"
        browser.click("#next")
    assert browser.count(".column.clash") == 2, "the violation is marked"


def test_a_round_without_end_opens_as_one(browser):
    browser.open("#view=check&check=bakery-without-incarnation+-n+2")
    browser.click("#start-check")
    browser.wait("return document.querySelector('[data-property=reliability] .counterexample')")
    browser.click("[data-property=reliability] .counterexample")
    assert browser.count(".diagram .loop") == 1


def test_searches_all_of_bakery_and_stops_when_told(browser):
    browser.open("#view=check&check=bakery+-n+3+--modes+exclusive")
    browser.click("#start-check")
    browser.wait("return document.querySelector('.verdict')")
    assert browser.text(".progress").startswith("287,784 states"), browser.text(".progress")
    assert browser.count(".verdict .holds") == browser.count(".verdict tbody tr") == 8
    browser.open("#view=check&check=bakery+-n+4")
    browser.click("#start-check")
    browser.wait("return /to go, depth/.test(document.querySelector('.progress').textContent)", "progress is told")
    browser.click("#stop-check")
    browser.wait("return document.querySelector('.progress').textContent === 'Stopped.'")


def test_three_levels_by_their_known_solutions(browser):
    browser.open("#view=levels")
    assert browser.count(".level") >= 31, "thirty levels, and the one that cannot be broken"
    levels = browser.js("return [...document.querySelectorAll('.level')].map((each) => each.dataset.level)")
    assert levels[-1] == "courtesy -n 2", "the shipped one is the last"
    for level in ("bakery-without-choosing -n 2", "lamport-no-acknowledgement -n 2 --requests 0", "network-silent"):
        browser.open("#view=levels")
        browser.click(f'[data-level="{level}"]')
        solution = words_of(level)
        for move in solution:
            assert browser.text("#level-end") == "", f"{level} is not solved yet"
            browser.moves([move])
        assert f"You broke it in {len(solution)} moves: nobody can do it in fewer" in browser.text("#level-end"), browser.text("#level-end")
        assert browser.text(".history"), "what was published"
    browser.open("#view=levels")
    assert browser.count(".level.solved") == 3


def test_rounds_and_refusals_are_levels_that_can_be_won(browser):
    """What no single move shows: one waits for nothing; errors after which exclusion never comes back; one waits for ever."""
    for level, expected in (("bakery-without-sharing -n 2", "may be inside together"), ("ricart-agrawala-deaf -n 3", "nothing comes of it"),
                            ("bakery-relapsing --errors waiting", "can go round for ever"), ("forks-ids-meek -n 3 --no-deaths", "waits, and the moves from")):
        solution, words = words_of(level), level.replace(" ", "+")
        browser.open(f"#view=play&level={words}&check={words}&moves={''.join(solution[:-1])}")
        assert browser.text("#level-end") == "" and browser.text(".place").startswith(f"{len(solution) - 1} of"), f"{level} is not solved yet"
        browser.moves(solution[-1:])
        said = browser.text("#level-end")
        assert expected in said and f"You broke it in {len(solution)} move" in said, said


def test_a_hint_that_would_take_minutes_comes_from_the_known_way(browser):
    level = "ricart-agrawala-no-inside-test -n 3 --requests 1 --crashes 2 --joins 2"
    browser.open("#view=play&level=" + level.replace(" ", "+"))
    browser.moves(words_of(level)[:1])
    browser.click("#hint")
    browser.click("#hint")
    left = browser.wait("return /From here (\\d+) moves? will do/.exec(document.querySelector('.hint').textContent)?.[1]")
    assert int(left) == len(words_of(level)) - 1


def test_hints_lead_to_the_end(browser):
    browser.open("#view=play&level=bakery-without-choosing+-n+2")
    browser.moves(["Bb", "Bd"])  # not the shortest way
    browser.click("#hint")
    assert browser.text(".hint").startswith("Hint: ")
    browser.click("#hint")
    said = browser.wait("return /From here (\\d+) moves? will do/.exec(document.querySelector('.hint').textContent)?.[1]")
    assert said == "8"
    browser.click("#solution")
    for _ in words_of("bakery-without-choosing -n 2"):
        browser.click("#next")
    assert "the checker’s way" in browser.text("#level-end"), "watching is not solving"


def test_a_hint_for_a_round_tells_where_the_known_way_was_left(browser):
    browser.open("#view=play&level=bakery-without-incarnation+-n+2")
    browser.moves(["Ab", "As", "Bb"])
    browser.click("#hint")
    browser.click("#hint")
    assert "goes with yours for 2 moves" in browser.text(".hint"), browser.text(".hint")
    browser.click("#back")
    browser.click("#hint")
    assert "From here 9 moves will do" in browser.text(".hint"), browser.text(".hint")


def test_a_message_is_delivered_by_a_click_on_its_arrow(browser):
    browser.open("#view=step&check=ricart-agrawala+-n+2")
    browser.moves(["Ab"])
    assert browser.count(".arrow") == 1
    browser.click("[data-deliver]")
    browser.click("[data-deliver]")
    assert browser.statuses() == ["INSIDE", "outside"]
    assert browser.count(".diagram .message") == 2, "an arrow for each message"


def test_a_shared_link_brings_everything_back(browser):
    browser.open("#view=step&check=bakery+-n+2+--aborts+--tso")
    for _ in range(6):
        browser.click(".move.go")
    browser.click("#back")
    browser.click("#share")
    link = browser.js("return location.hash")
    before = [browser.text(".place"), browser.text(".columns"), browser.text(".move-list")]
    browser.open(link)
    assert [browser.text(".place"), browser.text(".columns"), browser.text(".move-list")] == before
    assert before[0] == "5 of 6"


def test_bad_links_get_a_clear_answer(browser):
    told = {
        "#%00%ff{{{": "no situation",
        "#view=nowhere": "no situation",
        "#view=step&check=no-such-protocol": "there is no protocol 'no-such-protocol'",
        "#view=step&check=" + "x" * 30000: "too long",
        "#view=step&check=pair+-n+99": "1 to 8",
        "#view=step&check=pair+-n+5": "pair takes 2 places",
        "#view=step&check=pair+--help": "command line",
        "#view=step&check=pair&moves=AbQx": "not moves",
        "#view=step&check=pair&moves=AsAsAs": "cannot be made",
        "#view=step&check=pair&moves=Ab&at=999999999": None,
        "#view=play&level=nothing": "level that is not here",
        "#view=step&check=%3Cscript%3Edocument.title%3D1%3C%2Fscript%3E": "<script>",
    }
    for fragment, expected in told.items():
        browser.open(fragment)
        banner = browser.text("#banner")
        assert expected is None or expected in banner, f"{fragment[:60]}: {banner!r}"
        browser.click('[data-view="step"]')
        browser.click(".move.go")  # and the page goes on
    assert browser.js("return document.title") == "afteryou: the playground"


def test_wrong_words_keep_the_old_run(browser):
    browser.open("#view=step&check=pair&moves=AbAs")
    browser.js("""document.querySelector('#words').value = 'pair --units 3';
        document.querySelector('.settings form button').click();""")
    assert "--units works with" in browser.text(".wrong")
    assert browser.text(".place") == "2 of 2"
    browser.moves(["As"])


def test_the_keyboard_alone(browser):
    from selenium.webdriver.common.keys import Keys
    browser.open("#view=step&check=pair")
    browser.keys("1", "1", "1", "1")
    assert browser.statuses() == ["INSIDE", "outside"]
    browser.keys("2", Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert browser.text(".place") == "3 of 5"
    browser.keys(Keys.END)
    browser.js("dispatchEvent(new KeyboardEvent('keydown', {key: '!', code: 'Digit1', shiftKey: true}))")
    assert "dies inside" in browser.text(".move-list [aria-current]")
    browser.keys(Keys.HOME, "r")
    assert browser.text(".place") == "1 of 1" or browser.text(".place").startswith("1 of"), "a move by chance"
    browser.keys("?")
    assert browser.js("return document.querySelector('dialog').open")


def test_a_random_walk_walks_and_stops(browser):
    browser.open("#view=step&check=courtesy+-n+3")
    browser.js("document.querySelector('.transport input[type=range]').value = 30")
    browser.click(".walk")
    browser.wait("return parseInt(document.querySelector('.place').textContent) > 8")
    browser.click(".walk")
    stood = browser.text(".place")
    time.sleep(0.2)
    assert browser.text(".place") == stood


def test_the_tours_end_where_they_promise(browser):
    browser.open()
    browser.click("#show-me")
    for _ in range(8):
        assert browser.text("#alarm") == ""
        browser.click("#guide-next")
    assert "Two are inside at once" in browser.text("#alarm")
    browser.open()
    browser.click("#take-tour")
    for _ in range(9):
        browser.click("#guide-next")
    assert browser.statuses() == ["outside", "INSIDE"], "no crash can wedge it"
    assert browser.text("#banner") == ""


def test_every_broken_protocol_can_be_opened(browser):
    browser.open("#view=step")
    names = browser.js("return [...document.querySelectorAll('#protocol option')].map((each) => each.value)")
    assert len(names) > 60
    refused = browser.js("""const choice = document.querySelector('#protocol');
        return arguments[0].filter((name) => {
            choice.value = name;
            choice.dispatchEvent(new Event('change'));
            return document.querySelector('.wrong').textContent || choice.value !== name || !document.querySelector('.column');
        });""", names)
    assert refused == []


def test_the_page_offers_what_the_command_knows(browser):
    """By the list of the command itself: a protocol that is new there must not be forgotten here."""
    listed = subprocess.run([os.path.join(sys.argv[1], "afteryou"), "check", "--list"], capture_output=True, text=True, check=True).stdout
    for view in ("step", "check"):
        browser.open(f"#view={view}")
        offered = browser.js("return [...document.querySelectorAll('#protocol option')].map((each) => each.value)")
        assert sorted(offered) == sorted(line.split()[0] for line in listed.splitlines()), view
    browser.open("#view=levels")
    played = browser.js("return [...document.querySelectorAll('.level')].map((each) => each.dataset.level.split(' ')[0])")
    broken = {line.split()[0] for line in listed.splitlines() if "refuted: " in line}
    assert broken == set(played) - {"courtesy"}, "each broken one is a level, and the last is not broken"


def test_a_link_is_stepped_and_its_packets_are_delivered(browser):
    browser.open("#view=step&check=link")
    browser.moves(["Ab", "Af6", "Bf8", "Af12"])  # says, dials; accepts; sends
    assert browser.statuses() == ["not all is taken", "all is taken"]
    assert browser.text(".arrow text") == "message 1, 0 taken, connection 0"
    assert "Connection 0 is open at both ends." in browser.text(".network")
    browser.click("[data-deliver]")
    assert any("bool link_receive(" in line for line in marked_lines(browser)), "what handled it"
    browser.moves(["Bf12"])
    browser.click("[data-deliver]")
    assert browser.statuses() == ["all is taken", "all is taken"]
    assert browser.count(".diagram .message") == 2, "an arrow for each packet"


def test_each_paper_has_its_claims_and_they_open(browser):
    browser.open("#view=about")
    claims = browser.js("return [...document.querySelectorAll('.claims')].map((one) => one.querySelectorAll('.claim').length)")
    assert len(claims) == 6 and min(claims) > 10, claims
    browser.js("document.querySelector('.claims').open = true; document.querySelector('.claims button').click()")
    assert browser.statuses() == ["outside", "outside"], "the first command of the first paper: pair"


def test_the_picture_is_saved_whole(browser):
    browser.open("#view=step&check=pair&moves=AbBbAsBsAsAsBsBsAs")
    browser.js("[...document.querySelectorAll('.tools button')].find((each) => each.textContent === 'Save as SVG').click()")
    path = os.path.join(browser.downloads, "pair-9.svg")
    end = time.monotonic() + 30
    while not os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.02)
    with open(path, encoding="utf-8") as file:
        drawn = xml.dom.minidom.parse(file)
    assert len([g for g in drawn.getElementsByTagName("g") if g.getAttribute("class").startswith("mark")]) == 9
    assert ".diagram .mark" in drawn.getElementsByTagName("style")[0].firstChild.data


def test_nothing_is_fetched(browser):
    browser.open()
    asked = browser.js("return performance.getEntriesByType('resource').map((each) => each.name)")
    assert [name for name in asked if not re.match("(blob|data|file):", name)] == []
    size = os.path.getsize(browser.page.removeprefix("file://"))
    assert size <= 1_500_000, size


if __name__ == "__main__":
    sys.exit(run_tests(globals(), sys.argv[1], sys.argv[2:]))
