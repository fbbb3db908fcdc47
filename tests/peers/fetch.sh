#!/bin/sh
# Gets the peers' own tests from Debian, into a directory: lock_tests.py and others of CPython, the sources of filelock and
# fasteners. What cannot be had is told, and left out. usage: fetch.sh DIRECTORY
set -eu
mkdir -p "$1"
cd "$1"

if [ ! -d cpython ]; then
    rm -rf deb && mkdir deb
    (cd deb && apt-get -q -o APT::Sandbox::User=root download libpython3.11-testsuite >log 2>&1 && dpkg -x libpython3.11-testsuite_*.deb unpacked) &&
        mv deb/unpacked/usr/lib/python3.11 cpython ||
        echo "peers: CPython's tests (libpython3.11-testsuite) could not be had" >&2
fi

# Sources need a list of their own: most machines have none.
for name in python-filelock python-fasteners; do
    [ ! -d "${name#python-}" ] || continue
    mkdir -p lists/partial
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" >sources.list
    options="-q -o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists=$PWD/lists
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root"
    rm -rf source && mkdir source
    # shellcheck disable=SC2086
    (cd source && { [ -s ../updated ] || { apt-get $options update && echo yes >../updated; }; } && apt-get $options source "$name") >log 2>&1 &&
        mv source/*/ "${name#python-}" ||
        echo "peers: the source of $name could not be had: $(grep '^E:' log | head -n 1)" >&2
done
