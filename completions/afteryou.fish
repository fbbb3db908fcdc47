# SPDX-License-Identifier: MIT
# fish completion for afteryou(1). Which options there are, and which take a value, is asked of --help.

# COMMAND: a line for each option: the option, a tab, what its value is called, a tab, what it is for.
function __afteryou_options
    afteryou $argv[1] --help 2>/dev/null | awk '/^ +-/ {
        sub(/^ +/, ""); about = $0; if (!sub(/.*  +/, "", about)) about = ""
        sub(/  .*/, ""); gsub(/,/, " "); value = ""
        count = split($0, word, " ")
        for (at = 1; at <= count; at++) if (word[at] !~ /^-/) value = word[at]
        for (at = 1; at <= count; at++) if (word[at] ~ /^-/) print word[at] "\t" value "\t" about
    }'
end

function __afteryou_takes_value # COMMAND OPTION
    __afteryou_options $argv[1] | string match -qr -- "^$argv[2]\t[^\t]"
end

function __afteryou_spaces
    afteryou spaces --json 2>/dev/null | grep -oE '"name":"[^"\\\\]*"' | cut -d'"' -f4
end

function __afteryou_regions
    afteryou status --json 2>/dev/null | grep -oE '"names":\["[^"\\\\]*"' | cut -d'"' -f4 | sort -u
end

function __afteryou_clusters
    set -q AFTERYOU_CLUSTERS; or set -l AFTERYOU_CLUSTERS /run/afteryou
    command ls $AFTERYOU_CLUSTERS 2>/dev/null
end

function __afteryou_values # COMMAND OPTION
    switch "$argv[1] $argv[2]"
        case 'run -m' 'run --mode'
            printf '%s\n' exclusive shared protected-write concurrent-write concurrent-read null
        case 'agent --protocol'
            printf '%s\n' carvalho-roucairol ricart-agrawala lamport token
        case '* --protocol'
            printf '%s\n' courtesy bakery region forks clock races pair
        case 'check --precedence'
            printf '%s\n' in-order writers-first priority
        case '* --precedence'
            printf '%s\n' in-order writers-first readers-first by-priority
        case 'check --modes'
            printf '%s\n' exclusive shared both
        case 'check --property'
            printf '%s\n' exclusion progress lockout reliability order overtaking quiet giving-up
        case 'simulate --network'
            printf '%s\n' any fifo agreed
        case 'simulate --detector'
            printf '%s\n' right wrong
        case 'status --sort'
            printf '%s\n' region since pid user
        case '* -S' '* --space'
            __afteryou_spaces
        case '* --also'
            __afteryou_regions
        case '* --cluster'
            __afteryou_clusters
        case 'agent --group'
            __fish_complete_groups
        case '* --svg' '* --csv' '* --trace' '* --metrics'
            __fish_complete_path (commandline -ct | string replace -r '^--[^=]*=' '')
        case '* --directory' '* --state'
            __fish_complete_directories (commandline -ct | string replace -r '^--[^=]*=' '')
    end
end

function __afteryou_words # COMMAND POSITIONAL…
    switch "$argv[1] "(count $argv)
        case 'run 1' 'status *'
            __afteryou_regions
        case 'flock 1' 'audit 1'
            __fish_complete_path (commandline -ct)
        case 'spaces 1'
            printf '%s\n' list create show remove repair
        case 'spaces *'
            __afteryou_spaces
        case 'check 1' 'simulate 1'
            afteryou $argv[1] --list 2>/dev/null | awk '{print $1}'
        case 'cluster 1'
            printf '%s\n' init try
        case 'cluster 2'
            test "$argv[2]" != try; or printf '%s\n' exec cut heal
        case 'cluster *'
            test "$argv[2]" != try; or printf '%s\n' a b c
    end
end

function __afteryou_command_next # COMMAND HOW-MANY-POSITIONAL
    contains -- "$argv[1] $argv[2]" 'run 1' 'flock 1' 'cluster 3'
end

function __afteryou_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l command $words[2]
    if test (count $words) = 1
        afteryou --help 2>/dev/null | awk '/^  [a-z]/ {name = $1; sub(/^ *[^ ]+ +/, ""); print name "\t" $0}'
        printf '%s\n' --help --version
        return
    end
    set -l pending
    set -l ended
    set -l positional
    for at in (seq 3 (count $words))
        set -l word $words[$at]
        if test -n "$pending"
            set pending
        else if test "$word" = --; and test -z "$ended"
            set ended 1
        else if string match -qr -- '^--.*=' $word; and test -z "$ended"
            continue
        else if string match -qr -- '^--.' $word; and test -z "$ended"
            __afteryou_takes_value $command $word; and set pending $word
        else if string match -qr -- '^-.' $word; and test -z "$ended"
            set -l letter -(string sub -s -1 -- $word)
            __afteryou_takes_value $command $letter; and set pending $letter
        else if __afteryou_command_next $command (count $positional)
            complete -C (string join ' ' -- (string escape -- $words[$at..-1]) $current)
            return
        else
            set -a positional $word
        end
    end
    if test -n "$pending"
        __afteryou_values $command $pending
    else if string match -qr -- '^--.*=' $current; and test -z "$ended"
        set -l option (string replace -r '=.*' '' -- $current)
        printf '%s\n' $option=(__afteryou_values $command $option)
    else if string match -q -- '-*' $current; and test -z "$ended"
        __afteryou_options $command | awk -F'\t' '{print $1 "\t" $3}'
    else if __afteryou_command_next $command (count $positional)
        complete -C "$current"
    else
        __afteryou_words $command $positional
    end
end

complete -c afteryou -f -a '(__afteryou_complete)'
