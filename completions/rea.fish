# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_rea_global_optspecs
    string join \n j/threads= q/quiet color= disorder= h/help V/version
end

function __fish_rea_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_rea_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_rea_using_subcommand
    set -l cmd (__fish_rea_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c rea -n "__fish_rea_needs_command" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_needs_command" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_needs_command" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_needs_command" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_needs_command" -s h -l help -d 'Print help'
complete -c rea -n "__fish_rea_needs_command" -s V -l version -d 'Print version'
complete -c rea -n "__fish_rea_needs_command" -f -a "inspect-artifact" -d 'Say what a file or folder is, what is in it and what to look at next'
complete -c rea -n "__fish_rea_needs_command" -f -a "diff" -d 'Say what changed between two releases: entries, moves and sizes'
complete -c rea -n "__fish_rea_needs_command" -f -a "inventory-artifact" -d 'List every entry of a file or folder, hashed and classified'
complete -c rea -n "__fish_rea_needs_command" -f -a "compare-artifacts" -d 'Compare two inventories, path by path'
complete -c rea -n "__fish_rea_needs_command" -f -a "verify-evidence" -d 'Check that records are what their ids say'
complete -c rea -n "__fish_rea_needs_command" -f -a "capabilities" -d 'List the operations, whether they can run here, and what each takes'
complete -c rea -n "__fish_rea_needs_command" -f -a "completions" -d 'Print the completion script for a shell'
complete -c rea -n "__fish_rea_needs_command" -f -a "generate" -d 'Print a generated file of the source tree, or the names of all'
complete -c rea -n "__fish_rea_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l detail -d 'How much of the record to deliver; `summary` needs a session' -r -f -a "complete\t'All of it'
summary\t'A view, while the session keeps the record'"
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l integrity-policy -d 'Where a container declares a digest and the bytes differ' -r -f -a "fail\t'End with an error'
record-and-continue\t'Record the contradiction and go on'"
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l nested -d 'Which containers inside the root to open' -r -f -a "all\t'All, within the limits'
none\t'Only the root itself'"
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l on-damage -d 'Where the root container is damaged' -r -f -a "fail\t'End with an error that names the place'
record\t'Keep what could be read and say what could not'"
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l max-nesting -d 'Levels of containers inside containers' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l max-depth -d 'Levels of folders, prefixes of nested containers included' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l max-entries -d 'Entries of the root, and of all nested containers together' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l max-entry-bytes -d 'Bytes of one entry' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l max-total-bytes -d 'Bytes of all entries' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l max-compression-ratio -d 'Expanded over stored bytes, beyond 1GiB of output' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l max-decoder-window -d 'Bytes of history that a decoder may keep' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l max-header-bytes -d 'Bytes of extension headers of one archive entry' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand diff" -l integrity-policy -d 'Where a container declares a digest and the bytes differ' -r -f -a "fail\t'End with an error'
record-and-continue\t'Record the contradiction and go on'"
complete -c rea -n "__fish_rea_using_subcommand diff" -l nested -d 'Which containers inside the root to open' -r -f -a "all\t'All, within the limits'
none\t'Only the root itself'"
complete -c rea -n "__fish_rea_using_subcommand diff" -l on-damage -d 'Where the root container is damaged' -r -f -a "fail\t'End with an error that names the place'
record\t'Keep what could be read and say what could not'"
complete -c rea -n "__fish_rea_using_subcommand diff" -l max-nesting -d 'Levels of containers inside containers' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l max-depth -d 'Levels of folders, prefixes of nested containers included' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l max-entries -d 'Entries of the root, and of all nested containers together' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l max-entry-bytes -d 'Bytes of one entry' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l max-total-bytes -d 'Bytes of all entries' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l max-compression-ratio -d 'Expanded over stored bytes, beyond 1GiB of output' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l max-decoder-window -d 'Bytes of history that a decoder may keep' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l max-header-bytes -d 'Bytes of extension headers of one archive entry' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l path -d 'Only entries whose path (with a slash) or name (without) matches' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l limit -d 'Rows of each list, in place of --rows' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand diff" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand diff" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand diff" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l exit-code -d 'Exit with 3, 4 or 5 unless nothing differs'
complete -c rea -n "__fish_rea_using_subcommand diff" -l stat -d 'Only totals: sizes by kind and format, and the largest changes'
complete -c rea -n "__fish_rea_using_subcommand diff" -l name-only -d 'Only the paths that differ, one a line'
complete -c rea -n "__fish_rea_using_subcommand diff" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand diff" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand diff" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l integrity-policy -d 'Where a container declares a digest and the bytes differ' -r -f -a "fail\t'End with an error'
record-and-continue\t'Record the contradiction and go on'"
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l nested -d 'Which containers inside the root to open' -r -f -a "all\t'All, within the limits'
none\t'Only the root itself'"
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l on-damage -d 'Where the root container is damaged' -r -f -a "fail\t'End with an error that names the place'
record\t'Keep what could be read and say what could not'"
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l max-nesting -d 'Levels of containers inside containers' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l max-depth -d 'Levels of folders, prefixes of nested containers included' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l max-entries -d 'Entries of the root, and of all nested containers together' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l max-entry-bytes -d 'Bytes of one entry' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l max-total-bytes -d 'Bytes of all entries' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l max-compression-ratio -d 'Expanded over stored bytes, beyond 1GiB of output' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l max-decoder-window -d 'Bytes of history that a decoder may keep' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l max-header-bytes -d 'Bytes of extension headers of one archive entry' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -l exit-code -d 'Exit with 3, 4 or 5 unless nothing differs'
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l max-input-bytes -d 'Bytes to read of one file at most' -r
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand capabilities" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand capabilities" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand capabilities" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand capabilities" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand completions" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand completions" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand completions" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand completions" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand generate" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand generate" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand generate" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand generate" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand generate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff inventory-artifact compare-artifacts verify-evidence capabilities completions generate help" -f -a "inspect-artifact" -d 'Say what a file or folder is, what is in it and what to look at next'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff inventory-artifact compare-artifacts verify-evidence capabilities completions generate help" -f -a "diff" -d 'Say what changed between two releases: entries, moves and sizes'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff inventory-artifact compare-artifacts verify-evidence capabilities completions generate help" -f -a "inventory-artifact" -d 'List every entry of a file or folder, hashed and classified'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff inventory-artifact compare-artifacts verify-evidence capabilities completions generate help" -f -a "compare-artifacts" -d 'Compare two inventories, path by path'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff inventory-artifact compare-artifacts verify-evidence capabilities completions generate help" -f -a "verify-evidence" -d 'Check that records are what their ids say'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff inventory-artifact compare-artifacts verify-evidence capabilities completions generate help" -f -a "capabilities" -d 'List the operations, whether they can run here, and what each takes'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff inventory-artifact compare-artifacts verify-evidence capabilities completions generate help" -f -a "completions" -d 'Print the completion script for a shell'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff inventory-artifact compare-artifacts verify-evidence capabilities completions generate help" -f -a "generate" -d 'Print a generated file of the source tree, or the names of all'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff inventory-artifact compare-artifacts verify-evidence capabilities completions generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
