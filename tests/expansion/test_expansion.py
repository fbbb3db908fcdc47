#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A protocol's expansion is as short as the same lock written by hand: instructions, and accesses to shared words."""
import sys

import listing

# How many instructions more a passage may have, and why. Accesses to shared words: never more.
MARGIN = {
    # The protocol looks at a word, and waits only if that look says so; the hand begins its wait with the test. So the
    # test of whose turn it is stands twice, once for the look and once for the wait: five instructions that a passage
    # without contention does not run.
    "bakery_enter": 6,
}


def main():
    why = listing.missing()
    if why:
        print(f"skipped: {why}")
        return 77
    failures = 0
    print(f"{'passage':14}{'count':16}{'expanded':>10}{'by hand':>10}")
    for passage, (expanded, by_hand) in listing.both().items():
        for what, count in listing.COUNTS:
            ours, theirs = count(expanded), count(by_hand)
            allowed = theirs + (MARGIN.get(passage, 0) if what == "instructions" else 0)
            print(f"{passage:14}{what:16}{ours:10}{theirs:10}{'' if ours <= allowed else '  TOO MANY'}")
            failures += ours > allowed
        if not listing.fenced(expanded) + listing.stores(expanded):
            print(f"{passage}: no store was found: the count is wrong")
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
