# SPDX-License-Identifier: MIT
"""Prints the directory for modules below the prefix that is given: where.py PREFIX."""
import os
import sys
import sysconfig


def where(prefix):
    """Debian's python3 has directories of its own for packages, and for /usr/local; elsewhere it is told by PYTHONPATH."""
    if prefix == "/usr" and "deb_system" in sysconfig.get_scheme_names():
        return sysconfig.get_path("purelib", "deb_system")
    usual = sysconfig.get_path("purelib")
    if os.path.commonpath([prefix, usual]) == prefix:
        return usual
    return sysconfig.get_path("purelib", "posix_prefix", {"base": prefix, "platbase": prefix})


print(where(os.path.normpath(sys.argv[1])))
