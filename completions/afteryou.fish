# SPDX-License-Identifier: MIT
# fish completion for afteryou(1).

function __afteryou_clusters
    set -q AFTERYOU_CLUSTERS; or set -l AFTERYOU_CLUSTERS /run/afteryou
    command ls $AFTERYOU_CLUSTERS 2>/dev/null
end

function __afteryou_spaces
    afteryou spaces 2>/dev/null | awk 'NR > 1 {print $1}'
end
function __afteryou_regions
    afteryou status 2>/dev/null | awk 'NR > 1 {print $2}' | sort -u
end
set -l protocols courtesy bakery region forks clock races pair
set -l run '__fish_seen_subcommand_from run'
set -l status_ '__fish_seen_subcommand_from status'
set -l spaces '__fish_seen_subcommand_from spaces'
set -l cluster '__fish_seen_subcommand_from cluster'

complete -c afteryou -f -n __fish_use_subcommand -a 'run status spaces agent cluster check simulate audit'
complete -c afteryou -s h -l help -d Help
complete -c afteryou -s V -l version -d 'The version'

# The options of these are many: they are asked for.
for command in agent check simulate audit
    complete -c afteryou -n "__fish_seen_subcommand_from $command" \
        -a "(afteryou $command --help 2>/dev/null | string match -ra -- '(?<=[ ,])--?[a-zA-Z][a-z-]*')"
end

complete -c afteryou -n $run -a '(__afteryou_regions)'
complete -c afteryou -n $run -s x -l exclusive -d Alone
complete -c afteryou -n $run -s s -l shared -d 'With other readers'
complete -c afteryou -n $run -s m -l mode -x -a 'exclusive shared protected-write concurrent-write concurrent-read null'
complete -c afteryou -n $run -s k -l slots -x -d 'How many inside at once'
complete -c afteryou -n $run -l take -x -d 'Units to hold'
complete -c afteryou -n $run -l of -x -d 'Units there are'
complete -c afteryou -n $run -l also -x -a '(__afteryou_regions)' -d 'This region too'
complete -c afteryou -n $run -l when -x -d 'Only when this shell test succeeds'
complete -c afteryou -n $run -l priority -x -d 'The greater first'
complete -c afteryou -n $run -s n -l nonblock -d 'Do not wait'
complete -c afteryou -n $run -s w -l wait -x -d 'Seconds to wait'
complete -c afteryou -n $run -s E -l conflict-exit-code -x -d 'Exit code when not obtained'
complete -c afteryou -n $run -s c -l command -x -d 'A line for the shell'
complete -c afteryou -n $run -s o -l close -d 'Hold for the command alone'
complete -c afteryou -n $run -s S -l space -x -a '(__afteryou_spaces)' -d Space
complete -c afteryou -n $run -l protocol -x -a "$protocols" -d 'Protocol of a new space'
complete -c afteryou -n $run -l cluster -x -a '(__afteryou_clusters)' -d 'Many machines'
complete -c afteryou -n $run -s v -l verbose -d 'Tell what happens'

complete -c afteryou -f -n $status_ -a '(__afteryou_regions)'
complete -c afteryou -n $status_ -s S -l space -x -a '(__afteryou_spaces)' -d Space
complete -c afteryou -n $status_ -l cluster -x -a '(__afteryou_clusters)' -d 'All machines'
complete -c afteryou -n $status_ -l json -d 'For programs'
complete -c afteryou -n $status_ -l watch -d 'Again every second'
complete -c afteryou -n $status_ -s v -l verbose -d 'How processes wait here'

complete -c afteryou -f -n $spaces -a 'list create show remove repair (__afteryou_spaces)'
complete -c afteryou -n $spaces -l places -x -d 'Open regions at once'
complete -c afteryou -n $spaces -l protocol -x -a "$protocols"
complete -c afteryou -n $spaces -l precedence -x -a 'in-order writers-first readers-first by-priority'
complete -c afteryou -n $spaces -l overtake -x -d 'How often a sleeper may be passed'
complete -c afteryou -n $spaces -l retain -d 'Who was inside last goes in again at next to no cost'
complete -c afteryou -n $spaces -l mode -x -d 'Permissions, octal'
complete -c afteryou -n $spaces -l json -d 'For programs'

complete -c afteryou -f -n $cluster -a 'init try exec cut heal'
complete -c afteryou -n $cluster -l nodes -x -d 'The machines, or how many'
complete -c afteryou -n $cluster -l name -x -d 'Of the cluster'
complete -c afteryou -n $cluster -l directory -x -a '(__fish_complete_directories)' -d 'Where to write'
complete -c afteryou -n $cluster -l token -x -d 'Milliseconds for a silent machine'
complete -c afteryou -n $cluster -l force -d 'Write over files'
complete -c afteryou -n $cluster -l down -d 'End the trial'
