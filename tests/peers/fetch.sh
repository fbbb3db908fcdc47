#!/bin/sh
# Gets the peers' own tests from Debian, into a directory: lock_tests.py and others of CPython, the sources of filelock and
# fasteners. What somebody has put there is taken as it is: a folder cpython, filelock or fasteners, or an archive of its sources,
# by the name that Debian or the project gives it. What cannot be had is left out, and why is said in the directory, in
# cpython.why, filelock.why, fasteners.why.
# usage: fetch.sh DIRECTORY
# shellcheck disable=SC1091,SC2016,SC2086 # options are several words
set -eu
mkdir -p "$1"
cd "$1"
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
apt="apt-get -q -o APT::Sandbox::User=root -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o Acquire::Retries=1"

# What apt complained of first: that a file was not to be had rather than what follows from it.
complaint() {
    { grep -E '^[EW]: Failed to fetch' "$1" || grep '^E:' "$1" || tail -n 1 "$1"; } | head -n 1
}

fetch_cpython() {
    rm -rf deb && mkdir deb
    if (cd deb && $apt download libpython3.11-testsuite && dpkg -x libpython3.11-testsuite_*.deb unpacked) >log 2>&1; then
        mv deb/unpacked/usr/lib/python3.11 cpython
    else
        complaint log >cpython.why
    fi
}

# unpack NAME: an archive of the sources that lies there, as python-NAME_1.0.orig.tar.gz, NAME-1.0.tar.gz or the like.
unpack() {
    for archive in "python-$1_"*.orig.tar.* "$1_"*.orig.tar.* "$1-"*.tar.*; do
        [ -f "$archive" ] || continue
        rm -rf unpacked && mkdir unpacked
        tar -xf "$archive" -C unpacked --strip-components=1 && mv unpacked "$1"
        return
    done
    return 1
}

# Where sources may be: at the mirrors that this machine has its packages from, though some have no sources; at Debian's own; and
# in what Debian keeps of every day, for a release that has left the mirrors.
mirrors() {
    apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' 'Origin: Debian' 'Component: main' 2>/dev/null |
        awk -v release="$release" '$2 == release { print $1, $2, "yes" }'
    echo "http://deb.debian.org/debian/ $release yes"
    echo "http://snapshot.debian.org/archive/debian/20240701T000000Z/ bookworm no"
}

# With a list of its own: most machines have none of sources. fetch_from NAME URI RELEASE VALID, which says whether its age counts.
fetch_from() {
    lists=lists-$(echo "$2 $3" | cksum | cut -d ' ' -f 1)
    mkdir -p "$lists/partial"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg check-valid-until=$4] $2 $3 main" >"$lists.list"
    options="-o Dir::Etc::sourcelist=$PWD/$lists.list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists=$PWD/$lists
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Update::Error-Mode=any"
    rm -rf source && mkdir source
    (cd source && { [ -e "../$lists.updated" ] || { $apt $options update && touch "../$lists.updated"; }; } &&
        $apt $options source "$1") >log 2>&1 && mv source/*/ "${1#python-}"
}

fetch_source() {
    name=${1#python-}
    : >"$name.why"
    mirrors | awk '!seen[$0]++' | while read -r uri suite valid; do
        if fetch_from "$1" "$uri" "$suite" "$valid"; then
            rm "$name.why"
            break
        fi
        complaint log >>"$name.why"
    done
}

[ -d cpython ] || fetch_cpython
[ -d filelock ] || unpack filelock || fetch_source python-filelock
[ -d fasteners ] || unpack fasteners || fetch_source python-fasteners
