#!/bin/sh
# The manual pages have no errors and no warnings, and name every public function. $1: the source directory.
command -v mandoc >/dev/null || { echo "skipped: no mandoc" >&2; exit 77; }
mandoc -Tlint -Wwarning "$1"/man/*.[37] || exit 1
status=0
for name in $(sed -n 's/^ *\(ay_[a-z_]*\);$/\1/p' "$1/src/memory/libafteryou.map"); do
    grep -q "^.Nm $name\( ,\)*$" "$1"/man/*.3 || { echo "no manual page for $name" >&2; status=1; }
    grep -q "\b$name(" "$1/include/afteryou.h" || { echo "$name is not in the header" >&2; status=1; }
done
exit $status
