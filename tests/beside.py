# SPDX-License-Identifier: MIT
"""Which modes may be inside beside which, by the table of afteryou.h."""

BESIDE = {
    "exclusive": {"null"},
    "shared": {"shared", "concurrent-read", "null"},
    "protected-write": {"concurrent-read", "null"},
    "concurrent-write": {"concurrent-write", "concurrent-read", "null"},
    "concurrent-read": {"shared", "protected-write", "concurrent-write", "concurrent-read", "null"},
    "null": {"exclusive", "shared", "protected-write", "concurrent-write", "concurrent-read", "null"},
}
