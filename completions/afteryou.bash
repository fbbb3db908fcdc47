# SPDX-License-Identifier: MIT
# bash completion for afteryou(1).

_afteryou_spaces() { afteryou spaces 2>/dev/null | awk 'NR > 1 {print $1}'; }
_afteryou_regions() { afteryou status 2>/dev/null | awk 'NR > 1 {print $2}' | sort -u; }
_afteryou_protocols="courtesy bakery region forks clock races pair"
_afteryou_clusters() { ls "${AFTERYOU_CLUSTERS:-/run/afteryou}" 2>/dev/null; }

# _afteryou_value OPTION: what may follow it; fails if nothing does.
_afteryou_value() {
    case $1 in
        -m | --mode) REPLY="exclusive shared protected-write concurrent-write concurrent-read null" ;;
        -S | --space) REPLY=$(_afteryou_spaces) ;;
        --also) REPLY=$(_afteryou_regions) ;;
        --cluster) REPLY=$(_afteryou_clusters) ;;
        --protocol) REPLY=$_afteryou_protocols ;;
        --precedence) REPLY="in-order writers-first readers-first by-priority" ;;
        --directory) REPLY=$(compgen -d -- "$current") ;;
        --nodes | --name | --token | -k | --slots | --take | --of | -w | --wait | -E | --conflict-exit-code | --when | --priority | -c | --command | \
            --places | --overtake) REPLY= ;;
        *) return 1 ;;
    esac
}

_afteryou_run="-x --exclusive -s --shared -m --mode -k --slots --take --of --also --when --priority -n --nonblock -w --wait
    -E --conflict-exit-code -c --command -o --close -S --space --protocol --cluster -v --verbose -h --help -V --version"
_afteryou_status="-S --space --cluster --json --watch -v --verbose -h --help -V --version"
_afteryou_spaces_options="--places --protocol --precedence --overtake --retain --mode --json -h --help -V --version"

_afteryou_cluster="--nodes --name --directory --token --force --down -h --help -V --version"

# Of `afteryou run NAME [OPTION…] [--] COMMAND…`: where the command begins, or 0.
_afteryou_command_at() {
    local at name=
    for ((at = 2; at < COMP_CWORD; at++)); do
        case ${COMP_WORDS[at]} in
            --) REPLY=$((at + 1)) && return ;;
            -*) _afteryou_value "${COMP_WORDS[at]}" && at=$((at + 1)) ;;
            *) if [ -n "$name" ]; then REPLY=$at && return; fi; name=1 ;;
        esac
    done
    REPLY=0
    case ${COMP_WORDS[COMP_CWORD]} in -*) ;; *) [ -z "$name" ] || REPLY=$COMP_CWORD ;; esac
}

_afteryou() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} REPLY
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "run status spaces agent cluster check simulate audit --help --version" -- "$current")
        return
    fi
    if [ "${COMP_WORDS[1]}" = run ]; then
        _afteryou_command_at
        if [ "$REPLY" != 0 ]; then
            if declare -F _command_offset >/dev/null; then _command_offset "$REPLY"; else mapfile -t COMPREPLY < <(compgen -c -- "$current"); fi
            return
        fi
    fi
    if _afteryou_value "$before"; then
        mapfile -t COMPREPLY < <(compgen -W "$REPLY" -- "$current")
        return
    fi
    case ${COMP_WORDS[1]} in
        run) REPLY="$_afteryou_run $(_afteryou_regions)" ;;
        status) REPLY="$_afteryou_status $(_afteryou_regions)" ;;
        spaces) if [ "$COMP_CWORD" = 2 ]; then REPLY="list create show remove repair $_afteryou_spaces_options"
            else REPLY="$_afteryou_spaces_options $(_afteryou_spaces)"; fi ;;
        cluster) case $before in
                cluster) REPLY="init try $_afteryou_cluster" ;;
                try) REPLY="exec cut heal $_afteryou_cluster" ;;
                exec | cut | heal) REPLY="a b c" ;;
                *) REPLY=$_afteryou_cluster ;;
            esac ;;
        agent | check | simulate | audit) REPLY=$(afteryou "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -- '(^|[ ,[|])--?[a-zA-Z][a-z-]*' | tr -d ' ,[|') ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$REPLY" -- "$current")
}

complete -F _afteryou afteryou
