#!/bin/sh
# Alone, ay_enter and ay_leave make no system call: strace shows nothing between the two marks. $1: the program. But
# after a break they ask for the file's name, by fstat, and strace makes a break of every call: failures.c counts these.
command -v strace >/dev/null || { echo "skipped: no strace" >&2; exit 77; }
trace=$(strace -f -o /dev/stdout "$1" 2>/dev/null) || { echo "skipped: strace cannot trace here" >&2; exit 77; }
between=$(printf '%s\n' "$trace" | sed -n '/"begin\\n"/,/"end\\n"/p' | grep -vE ' (newfstatat|fstat|statx)\(')
count=$(printf '%s\n' "$between" | wc -l)
if [ "$count" -ne 2 ]; then
    echo "system calls in 1000 passages alone:" >&2
    printf '%s\n' "$between" >&2
    exit 1
fi
