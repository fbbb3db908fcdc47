#!/usr/bin/env bash
# What an emulated ARM64 machine boots, of Debian's packages: a root in DIRECTORY/root.cpio, and the kernels DIRECTORY/kernel-4k and
# DIRECTORY/kernel-16k, with pages of those sizes. Nothing of this machine is changed; a part that is there is not made anew.
# usage: root.sh DIRECTORY
set -euo pipefail
mkdir -p "$1"
cd "$1"

# For the tests: what those of the command call.
packages=(bash coreutils dash findutils grep libc-bin libc6 mawk mount procps python3 sed sqlite3 strace util-linux)

# private_apt: an apt of ARM64's own, which takes packages from where this machine takes them.
private_apt() {
    local sources
    sources=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' 'Origin: Debian' 'Component: main' | sort -u)
    mkdir -p apt/state/lists/partial apt/cache/archives/partial
    : >apt/state/status
    # Debian's kernel with pages of 16 KB came after bookworm, into what is backported to it.
    awk -v keys=/usr/share/keyrings/debian-archive-keyring.gpg '
        { print "deb [arch=arm64 signed-by=" keys "] " $1 " " $2 " main" }
        $2 == "bookworm" { print "deb [arch=arm64 signed-by=" keys "] " $1 " bookworm-backports main" }' <<<"$sources" >apt/sources.list
    cat >apt/apt.conf <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State "$PWD/apt/state";
Dir::State::status "$PWD/apt/state/status";
Dir::Cache "$PWD/apt/cache";
Dir::Etc::sourcelist "$PWD/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
END
    export APT_CONFIG=$PWD/apt/apt.conf
    apt-get update -q >apt/log 2>&1 || { cat apt/log >&2 && return 1; }
}

# unpacked DIRECTORY PACKAGE...: without what its scripts would do. The links of a merged /usr stay.
unpacked() {
    local directory=$1 package
    shift
    for package in "$@"; do
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$directory"
    done
}

make_root() {
    rm -rf root && mkdir -p root/{usr/bin,usr/lib,usr/sbin,etc,dev,proc,sys,tmp,root,run}
    ln -s usr/bin usr/lib usr/sbin root/
    apt-get install -y -q --download-only --no-install-recommends "${packages[@]}" >apt/log 2>&1 || { cat apt/log >&2 && return 1; }
    unpacked root apt/cache/archives/*.deb
    rm -rf root/usr/share/{doc,man,locale,info} root/var/lib/dpkg
    ln -sf dash root/usr/bin/sh
    ln -sf mawk root/usr/bin/awk
    printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin' >root/etc/passwd
    printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' >root/etc/group
    (cd root && find . -print0 | LC_ALL=C sort -z | cpio --null --create --format=newc --owner=0:0 --quiet) >root.cpio.part
    mv root.cpio.part root.cpio
}

# make_kernel NAME METAPACKAGE: the image that the package depends on now.
make_kernel() {
    local package
    package=$(apt-cache depends "$2" | awk '$1 == "Depends:" && $2 ~ /^linux-image-/ { print $2; exit }')
    [ -n "$package" ] || { echo "root.sh: Debian has no $2 here" >&2 && return 1; }
    mkdir -p download && (cd download && rm -f -- *.deb && apt-get download -q "$package" >../apt/log 2>&1) || { cat apt/log >&2 && return 1; }
    dpkg-deb --fsys-tarfile download/*.deb | tar -x -O --wildcards './boot/vmlinuz-*' >"$1.part"
    rm -rf download
    mv "$1.part" "$1"
}

[ -s root.cpio ] && [ -s kernel-4k ] && [ -s kernel-16k ] && exit
private_apt
[ -s root.cpio ] || make_root
[ -s kernel-4k ] || make_kernel kernel-4k linux-image-arm64
[ -s kernel-16k ] || make_kernel kernel-16k linux-image-arm64-16k
