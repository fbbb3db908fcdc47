#!/bin/sh
# Unpacks the packages of a directory into a root of their own, and uses what is there. usage: debian/try.sh DIRECTORY
set -eu
directory=$(cd "$1" && pwd)
root=$directory/root
rm -rf "$root"
for package in "$directory"/*.deb; do
    case $package in *-dbgsym_*) continue ;; esac
    dpkg -x "$package" "$root"
done
library=$(dirname "$(find "$root/usr/lib" -name 'libafteryou.so.0' | head -n 1)")
spaces=$(mktemp -d /dev/shm/afteryou-deb-XXXXXX)
trap 'rm -rf "$spaces"' EXIT
[ "$("$root/usr/bin/afteryou" run -S "$spaces/s" x -- echo command)" = command ]
[ "$(LIBAFTERYOU=$library/libafteryou.so.0 PYTHONPATH=$root/usr/lib/python3/dist-packages SPACE=$spaces/s python3 -c '
import afteryou, os
with afteryou.Space(os.environ["SPACE"]) as space, space.region("x"):
    print("python")')" = python ]
cat >"$directory/try.c" <<'END'
#include <afteryou.h>
int main(int count, char **words)
{
    ay_space *space;
    return count == 2 && ay_open(words[1], 0, &space) == 0 ? 0 : 1;
}
END
# shellcheck disable=SC2046
cc "$directory/try.c" -o "$directory/try" $(PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$library/pkgconfig pkg-config --cflags --libs afteryou)
LD_LIBRARY_PATH=$library "$directory/try" "$spaces/s"
"$root/usr/bin/afteryou" cluster init --nodes a=10.0.0.1,b=10.0.0.2,c=10.0.0.3 --directory "$spaces/cluster" >/dev/null
[ -s "$root/lib/systemd/system/afteryou-agent@.service" ]
[ "$(AFTERYOU_DIR=$spaces "$root/usr/libexec/afteryou/flock" -n "$spaces/lock" echo locked)" = locked ]
# The pages: the playground as a file, the live page in the command.
grep -q 'id="wasm"' "$root/usr/share/doc/afteryou/playground.html"
AFTERYOU_DIR=$spaces "$root/usr/bin/afteryou" status --serve "unix:$spaces/live" >/dev/null &
server=$!
for _ in $(seq 100); do [ -S "$spaces/live" ] && break || sleep 0.1; done
curl -s --unix-socket "$spaces/live" http://localhost/ | grep -q 'afteryou: live'
kill "$server"
# What is done when it is upgraded and purged; and what the library promises to programs built against it.
scripts=$directory/scripts
rm -rf "$scripts" && mkdir "$scripts"
for package in afteryou-cluster libafteryou0; do dpkg-deb -e "$directory/$package"_*.deb "$scripts/$package"; done
grep -q "_dh_action=restart" "$scripts/afteryou-cluster/postinst"
grep -q "deb-systemd-invoke .*'afteryou-agent.target'" "$scripts/afteryou-cluster/postinst"
grep -q "rm -rf /var/lib/afteryou" "$scripts/afteryou-cluster/postrm"
grep -q "ay_enter@AFTERYOU_0" "$scripts/libafteryou0/symbols"
dpkg-deb -c "$directory"/afteryou_*.deb | grep man7/afteryou.7 >/dev/null
for page in man1/afteryou-cluster.1 man1/afteryou.1 man3/ay_open.3 man7/afteryou.7; do [ -e "$root/usr/share/man/$page.gz" ]; done
echo "deb: $(ls "$directory"/*.deb | wc -l) packages; the command, the library and the module work in a root of their own"
