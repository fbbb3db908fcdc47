# SPDX-License-Identifier: MIT
# bash completion for afteryou(1). Which options there are, and which take a value, is asked of --help.

# COMMAND: a line for each option: the option, a tab, and what its value is called.
_afteryou_options() {
    afteryou "$1" --help 2>/dev/null | awk '/^ +-/ {
        sub(/^ +/, ""); sub(/  .*/, ""); gsub(/,/, " "); value = ""
        count = split($0, word, " ")
        for (at = 1; at <= count; at++) if (word[at] !~ /^-/) value = word[at]
        for (at = 1; at <= count; at++) if (word[at] ~ /^-/) print word[at] "\t" value
    }'
}
_afteryou_takes_value() { _afteryou_options "$1" | grep -qE -- "^$2"$'\t'.; }
_afteryou_spaces() { afteryou spaces --json 2>/dev/null | grep -oE '"name":"[^"\\]*"' | cut -d'"' -f4; }
_afteryou_regions() { afteryou status --json 2>/dev/null | grep -oE '"names":\["[^"\\]*"' | cut -d'"' -f4 | sort -u; }
_afteryou_clusters() { ls "${AFTERYOU_CLUSTERS:-/run/afteryou}" 2>/dev/null; }
_afteryou_protocols() { afteryou "$1" --list 2>/dev/null | awk '{print $1}'; }

# COMMAND OPTION CURRENT: what the value may be, a line each.
_afteryou_values() {
    case "$1 $2" in
        'run -m' | 'run --mode') printf '%s\n' exclusive shared protected-write concurrent-write concurrent-read null ;;
        'agent --protocol') printf '%s\n' carvalho-roucairol ricart-agrawala lamport token ;;
        *' --protocol') printf '%s\n' courtesy bakery region forks clock races pair ;;
        'check --precedence') printf '%s\n' in-order writers-first priority ;;
        *' --precedence') printf '%s\n' in-order writers-first readers-first by-priority ;;
        'check --modes') printf '%s\n' exclusive shared both ;;
        'check --property') printf '%s\n' exclusion progress lockout reliability order overtaking quiet giving-up ;;
        'simulate --network') printf '%s\n' any fifo agreed ;;
        'simulate --detector') printf '%s\n' right wrong ;;
        'status --sort') printf '%s\n' region since pid user ;;
        *' -S' | *' --space') _afteryou_spaces ;;
        *' --also') _afteryou_regions ;;
        *' --cluster') _afteryou_clusters ;;
        'agent --group') compgen -g ;;
        *' --svg' | *' --csv' | *' --trace' | *' --metrics') compgen -f -- "$3" ;;
        *' --directory' | *' --state') compgen -d -- "$3" ;;
    esac
}

# COMMAND CURRENT POSITIONAL…: what may stand here, options aside, a line each.
_afteryou_words() {
    case "$1 $#" in
        'run 2' | status*) _afteryou_regions ;;
        'flock 2' | 'audit 2') compgen -f -- "$2" ;;
        'spaces 2') printf '%s\n' list create show remove repair ;;
        spaces*) _afteryou_spaces ;;
        'check 2' | 'simulate 2') _afteryou_protocols "$1" ;;
        'cluster 2') printf '%s\n' init try ;;
        'cluster 3') [ "$3" != try ] || printf '%s\n' exec cut heal ;;
        cluster*) [ "$3" != try ] || printf '%s\n' a b c ;;
    esac
}

# COMMAND HOW-MANY-POSITIONAL: whether the next one begins a command line of its own.
_afteryou_command_next() {
    case "$1 $2" in 'run 1' | 'flock 1' | 'cluster 3') return 0 ;; esac
    return 1
}

_afteryou_offer() { # CURRENT, and what there is on stdin
    local candidate
    while IFS= read -r candidate; do
        [[ $candidate == "$1"* ]] && COMPREPLY+=("$(printf %q "$candidate")")
    done
}

_afteryou_offer_command() { # WHERE CURRENT
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif [ "$1" = "$COMP_CWORD" ]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$2")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
    fi
}

_afteryou() {
    local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} pending='' ended='' positional=() at word
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        _afteryou_offer "$current" < <(afteryou --help 2>/dev/null | awk '/^  [a-z]/ {print $1} END {print "--help\n--version"}')
        return
    fi
    for ((at = 2; at < COMP_CWORD; at++)); do
        word=${COMP_WORDS[at]}
        if [ "$word" = = ] && [ -n "$pending" ]; then
            continue # readline cuts --option=value at it
        elif [ -n "$pending" ]; then
            pending=
        elif [ "$word" = -- ] && [ -z "$ended" ]; then
            ended=1
        elif [[ $word == --?* && -z $ended ]]; then
            ! _afteryou_takes_value "$command" "$word" || pending=$word
        elif [[ $word == -?* && -z $ended ]]; then
            ! _afteryou_takes_value "$command" "-${word: -1}" || pending=-${word: -1}
        elif _afteryou_command_next "$command" ${#positional[@]}; then
            _afteryou_offer_command "$at" "$current"
            return
        else
            positional+=("$word")
        fi
    done
    [ "$current" != = ] || current=
    if [ -n "$pending" ]; then
        _afteryou_offer "$current" < <(_afteryou_values "$command" "$pending" "$current")
    elif [[ $current == -* && -z $ended ]]; then
        _afteryou_offer "$current" < <(_afteryou_options "$command" | cut -f1)
    elif _afteryou_command_next "$command" ${#positional[@]}; then
        _afteryou_offer_command "$COMP_CWORD" "$current"
    else
        _afteryou_offer "$current" < <(_afteryou_words "$command" "$current" "${positional[@]}")
    fi
}

complete -F _afteryou afteryou
