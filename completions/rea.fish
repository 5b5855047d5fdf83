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
complete -c rea -n "__fish_rea_needs_command" -f -a "view" -d 'Show a part of a record: its summary, or rows of one of its lists'
complete -c rea -n "__fish_rea_needs_command" -f -a "inventory-artifact" -d 'List every entry of a file or folder, hashed and classified'
complete -c rea -n "__fish_rea_needs_command" -f -a "extract-artifact" -d 'Write members of an archive, package or folder as files'
complete -c rea -n "__fish_rea_needs_command" -f -a "compare-artifacts" -d 'Compare two inventories, path by path'
complete -c rea -n "__fish_rea_needs_command" -f -a "inspect-plist" -d 'Read a property list of any notation, with exact types'
complete -c rea -n "__fish_rea_needs_command" -f -a "inspect-binary-layout" -d 'Lay out an ELF, PE, COFF or Mach-O file'
complete -c rea -n "__fish_rea_needs_command" -f -a "inspect-macho" -d 'Read the header, load commands, imports and exports of a Mach-O file'
complete -c rea -n "__fish_rea_needs_command" -f -a "list-architectures" -d 'List the architectures of a Mach-O file'
complete -c rea -n "__fish_rea_needs_command" -f -a "inspect-wasm-artifact" -d 'Take a WebAssembly module or component apart'
complete -c rea -n "__fish_rea_needs_command" -f -a "list-segments" -d 'List what the loader maps, with permissions and sections'
complete -c rea -n "__fish_rea_needs_command" -f -a "list-names" -d 'List the names that the file gives to addresses'
complete -c rea -n "__fish_rea_needs_command" -f -a "list-strings" -d 'List the strings of a file, with encodings, addresses and exact ranges'
complete -c rea -n "__fish_rea_needs_command" -f -a "search-strings" -d 'Find strings of a file by their text'
complete -c rea -n "__fish_rea_needs_command" -f -a "search" -d 'Find strings of a file by their text'
complete -c rea -n "__fish_rea_needs_command" -f -a "search-bytes" -d 'Find a pattern of bytes in initialized memory'
complete -c rea -n "__fish_rea_needs_command" -f -a "read-bytes" -d 'Read bytes of initialized memory at an address'
complete -c rea -n "__fish_rea_needs_command" -f -a "address-to-file-offset" -d 'Tell where in the file the byte at an address stands'
complete -c rea -n "__fish_rea_needs_command" -f -a "demangle" -d 'Write mangled names as people write them'
complete -c rea -n "__fish_rea_needs_command" -f -a "demangle-swift" -d 'Write the Swift names of a program as people write them'
complete -c rea -n "__fish_rea_needs_command" -f -a "inspect-web-network-capture" -d 'Read a recording of web traffic (HAR), without credentials'
complete -c rea -n "__fish_rea_needs_command" -f -a "environment-serve" -d 'Serve recorded web traffic to agents, as tools that replay it'
complete -c rea -n "__fish_rea_needs_command" -f -a "compare-api-surfaces" -d 'Compare the APIs that two recordings of web traffic show'
complete -c rea -n "__fish_rea_needs_command" -f -a "compare-web-captures" -d 'Compare two observations of a page, or two runs of a scenario'
complete -c rea -n "__fish_rea_needs_command" -f -a "compare-web-screenshots" -d 'Compare two screenshots, pixel by pixel'
complete -c rea -n "__fish_rea_needs_command" -f -a "verify-evidence" -d 'Check that records are what their ids say'
complete -c rea -n "__fish_rea_needs_command" -f -a "bundle" -d 'Merge records and bundles into one bundle'
complete -c rea -n "__fish_rea_needs_command" -f -a "evidence-import" -d 'Check a bundle as an import does, and count what it brings'
complete -c rea -n "__fish_rea_needs_command" -f -a "evidence-export" -d 'Write a bundle to a file in canonical form, complete or not at all'
complete -c rea -n "__fish_rea_needs_command" -f -a "inspect-evidence-bundle" -d 'Deliver a bundle, or a summary of its records'
complete -c rea -n "__fish_rea_needs_command" -f -a "compare-bundles" -d 'Compare what two bundles hold: records and the histories of unknowns'
complete -c rea -n "__fish_rea_needs_command" -f -a "compare" -d 'Compare what two bundles hold: records and the histories of unknowns'
complete -c rea -n "__fish_rea_needs_command" -f -a "record-unknown" -d 'Record a question that analysis left open in a bundle'
complete -c rea -n "__fish_rea_needs_command" -f -a "update-unknown" -d 'Write the next revision of an unknown in a bundle'
complete -c rea -n "__fish_rea_needs_command" -f -a "list-unknowns" -d 'List the unknowns of a bundle, each in its newest revision'
complete -c rea -n "__fish_rea_needs_command" -f -a "verify-unknown-resolution" -d 'Say whether an unknown is resolved, and whether records verify it'
complete -c rea -n "__fish_rea_needs_command" -f -a "inspect-analysis-view" -d 'Select facts from a record, as a request file says'
complete -c rea -n "__fish_rea_needs_command" -f -a "mcp" -d 'Serve the operations to agents, over stdio or HTTP'
complete -c rea -n "__fish_rea_needs_command" -f -a "setup" -d 'Register rea with the agents on this machine'
complete -c rea -n "__fish_rea_needs_command" -f -a "uninstall" -d 'Take rea out of the agents on this machine'
complete -c rea -n "__fish_rea_needs_command" -f -a "doctor" -d 'Check that rea can work here, and where it is registered'
complete -c rea -n "__fish_rea_needs_command" -f -a "providers" -d 'List the providers of analysis and which of them takes a target'
complete -c rea -n "__fish_rea_needs_command" -f -a "capabilities" -d 'List the operations, whether they can run here, and what each takes'
complete -c rea -n "__fish_rea_needs_command" -f -a "catalog" -d 'Write the catalog of this build, for programs'
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
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand inspect-artifact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand diff" -l fail-on -d 'Exit with 3 where --deep finds one of these, and say why first; with 4 where something could not be looked at' -r -f -a "build-id-added\t''
build-id-changed\t''
build-id-removed\t''
dependency-added\t''
dependency-changed\t''
dependency-removed\t''
export-added\t''
export-changed\t''
export-removed\t''
import-added\t''
import-changed\t''
import-removed\t''
mitigation-gained\t''
mitigation-lost\t''
symbol-added\t''
symbol-changed\t''
symbol-removed\t''
wasm-export-added\t''
wasm-export-changed\t''
wasm-export-removed\t''
wasm-import-added\t''
wasm-import-changed\t''
wasm-import-removed\t''"
complete -c rea -n "__fish_rea_using_subcommand diff" -l old-as -d 'What the old side is, where its bytes are not to decide' -r -f -a "auto\t'Evidence where the file holds that, else software'
evidence\t'A record of inventory-artifact or inspect-artifact'
software\t'A file or folder, whatever it holds'"
complete -c rea -n "__fish_rea_using_subcommand diff" -l new-as -d 'What the new side is, where its bytes are not to decide' -r -f -a "auto\t'Evidence where the file holds that, else software'
evidence\t'A record of inventory-artifact or inspect-artifact'
software\t'A file or folder, whatever it holds'"
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
complete -c rea -n "__fish_rea_using_subcommand diff" -l path -d 'Only entries whose path matches: `lib/**`, `**/*.so`. The exit status is that of the whole' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l limit -d 'Rows of each list, a number or `all`, in place of --rows' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand diff" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand diff" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand diff" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand diff" -l exit-code -d 'Exit with 3, 4 or 5 unless nothing differs'
complete -c rea -n "__fish_rea_using_subcommand diff" -l deep -d 'Open changed binaries and WebAssembly modules, also inside of containers, and say which symbols, imports, exports, libraries, protections and build ids differ. Both sides must be software'
complete -c rea -n "__fish_rea_using_subcommand diff" -l stat -d 'Only totals: sizes by kind and format, and the largest changes'
complete -c rea -n "__fish_rea_using_subcommand diff" -l name-only -d 'Only the paths that differ, one a line'
complete -c rea -n "__fish_rea_using_subcommand diff" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand diff" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand diff" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand view" -l collection -d 'Rows of this list, as they stand in the record' -r -f -a "nodes\t'Of an inventory: distinct contents'
occurrences\t'Of an inventory: entries, by path'
edges\t'Of an inventory: which content holds which entry'
integrity_contradictions\t'Of an inventory: bytes that are not those that their container declares'
sections\t'Of a layout'
segments\t'Of a layout'
symbols\t'Of a layout'
relocations\t'Of a layout'
imports\t'Of a layout: what it asks for'
exports\t'Of a layout: what it offers'"
complete -c rea -n "__fish_rea_using_subcommand view" -l name -d 'Of a layout\'s list: the one row with exactly this name' -r
complete -c rea -n "__fish_rea_using_subcommand view" -l index -d 'Of a layout\'s list: the one row at this place, from 0' -r
complete -c rea -n "__fish_rea_using_subcommand view" -l wasm -d 'This part of a module: rows, or a page of a text' -r -f -a "sections\t'Sections with their ranges'
imports\t'Import forms'
exports\t'Export forms'
candidates\t'Files that scripts may mean'
glue\t'Scripts and their references'
wat\t'The text form'
headers\t'A line for each section'
details\t'A line for each thing in the sections'
tool_profile\t'What read the module, and its limits'"
complete -c rea -n "__fish_rea_using_subcommand view" -l macho -d 'This list of a Mach-O file\'s record' -r -f -a "entrypoints\t'Where the program starts'
architectures\t'Slices of the file'
build_metadata\t'Platforms and tools that it was built for and with'
load_commands\t'Load commands with their fields'
dependencies\t'Libraries that it loads'
imports\t'What it asks for'
exports\t'What it offers'
segments\t'Segments with their sections'
provenance\t'Tools that were run: none'"
complete -c rea -n "__fish_rea_using_subcommand view" -l field -d 'Of such rows only the address and this member; may be given again, in any order' -r
complete -c rea -n "__fish_rea_using_subcommand view" -l template-rule -d 'Of a web capture: also apply this rule to path segments; may be given again, in any order' -r -f -a "after-uid-literal\t'What stands behind a segment `uid` is a parameter'
opaque-token\t'Runs of letters and digits that no one would write are parameters'
sibling-variance\t'Three values where all else is equal are a parameter'"
complete -c rea -n "__fish_rea_using_subcommand view" -l offset -d 'The first row that is selected; of texts the first UTF-16 code unit' -r
complete -c rea -n "__fish_rea_using_subcommand view" -l limit -d 'Rows at most; of texts UTF-16 code units at most' -r
complete -c rea -n "__fish_rea_using_subcommand view" -l path -d 'Only occurrences with exactly this logical path; may be given again, in any order (the view holds each once, sorted)' -r
complete -c rea -n "__fish_rea_using_subcommand view" -l max-input-bytes -d 'Bytes to read of the record at most' -r
complete -c rea -n "__fish_rea_using_subcommand view" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand view" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand view" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand view" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand view" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand view" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand view" -l summary -d 'What the record says as a whole, and how much there is of each list'
complete -c rea -n "__fish_rea_using_subcommand view" -l mitigations -d 'Of a layout: the protections'
complete -c rea -n "__fish_rea_using_subcommand view" -l linkage -d 'Of a layout: what it is linked with'
complete -c rea -n "__fish_rea_using_subcommand view" -l sections -d 'Of a layout: the same as --collection sections'
complete -c rea -n "__fish_rea_using_subcommand view" -l symbols -d 'Of a layout: the same as --collection symbols'
complete -c rea -n "__fish_rea_using_subcommand view" -l items -d 'Of a list of names or strings: rows, with their places in it'
complete -c rea -n "__fish_rea_using_subcommand view" -l api-surface -d 'Of a web capture: its operations, by method, origin and path template'
complete -c rea -n "__fish_rea_using_subcommand view" -l openapi -d 'With --api-surface: an OpenAPI 3.1 description in place of the record, of the origin that answered most in JSON; marked as inferred'
complete -c rea -n "__fish_rea_using_subcommand view" -l environment-manifest -d 'Of a web capture: the tools of an environment that replays it'
complete -c rea -n "__fish_rea_using_subcommand view" -l environment-state -d 'Of a web capture: entities and documents that its reads observed'
complete -c rea -n "__fish_rea_using_subcommand view" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand view" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand view" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand view" -s h -l help -d 'Print help (see more with \'--help\')'
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
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand inventory-artifact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l path -d 'Only members with a matching path; may be given again [default: the artifact\'s own members, without what is in containers among them]' -r
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l into -d 'Folder to create and write into, outside of the artifact [default: a fresh one in the temporary folder, said on stderr]' -r -F
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l integrity-policy -d 'Where a container declares a digest and the bytes differ' -r -f -a "fail\t'End with an error'
record-and-continue\t'Record the contradiction and go on'"
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l nested -d 'Which containers inside the root to open' -r -f -a "all\t'All, within the limits'
none\t'Only the root itself'"
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l on-damage -d 'Where the root container is damaged' -r -f -a "fail\t'End with an error that names the place'
record\t'Keep what could be read and say what could not'"
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l max-nesting -d 'Levels of containers inside containers' -r
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l max-depth -d 'Levels of folders, prefixes of nested containers included' -r
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l max-entries -d 'Entries of the root, and of all nested containers together' -r
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l max-entry-bytes -d 'Bytes of one entry' -r
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l max-total-bytes -d 'Bytes of all entries' -r
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l max-compression-ratio -d 'Expanded over stored bytes, beyond 1GiB of output' -r
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l max-decoder-window -d 'Bytes of history that a decoder may keep' -r
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l max-header-bytes -d 'Bytes of extension headers of one archive entry' -r
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand extract-artifact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand compare-artifacts" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
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
complete -c rea -n "__fish_rea_using_subcommand inspect-plist" -l recursive -d 'Inspect every file below DIR instead, one record a line in the order of the paths. What is of another format is skipped and counted, links are not followed; what fails is said and the rest goes on, with status 1' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-plist" -l relative-path -d 'Property list inside the bundle, in place of its Info.plist' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-plist" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand inspect-plist" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-plist" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-plist" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-plist" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand inspect-plist" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-plist" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand inspect-plist" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand inspect-plist" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand inspect-plist" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -l recursive -d 'Inspect every file below DIR instead, one record a line in the order of the paths. What is of another format is skipped and counted, links are not followed; what fails is said and the rest goes on, with status 1' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -l architecture -d 'Slice of a universal file, by the name `rea list-architectures` gives' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -l min-length -d 'Fewest characters of a string' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -l strings -d 'Tell the strings too, with encodings and exact ranges'
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -l digests -d 'Tell the digest and entropy of each section'
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand inspect-binary-layout" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -l recursive -d 'Inspect every file below DIR instead, one record a line in the order of the paths. What is of another format is skipped and counted, links are not followed; what fails is said and the rest goes on, with status 1' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -l architecture -d 'Slice of a universal file, by the name `rea list-architectures` gives [default: the first that holds Mach-O]' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -l detail -d 'How much of the record to deliver; `summary` needs a session' -r -f -a "complete\t'All of it'
summary\t'A view, while the session keeps the record'"
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand inspect-macho" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand list-architectures" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand list-architectures" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand list-architectures" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand list-architectures" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand list-architectures" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand list-architectures" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand list-architectures" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand list-architectures" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand list-architectures" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand list-architectures" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l recursive -d 'Inspect every file below DIR instead, one record a line in the order of the paths. What is of another format is skipped and counted, links are not followed; what fails is said and the rest goes on, with status 1' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l glue-paths -d 'Script that may load it; may be given up to 16 times' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l candidate-paths -d 'Other file that the scripts may mean; may be given up to 16 times' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l max-wat-bytes -d 'Leave the text out where it comes to more than this' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l max-file-bytes -d 'Refuse larger files' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l detail -d 'How much of the record to deliver; `summary` needs a session' -r -f -a "complete\t'All of it'
summary\t'A view, while the session keeps the record'"
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l wat -d 'Include the text of files beyond 1 MiB too'
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand inspect-wasm-artifact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand list-segments" -l architecture -d 'Slice of a universal file; its first one otherwise' -r
complete -c rea -n "__fish_rea_using_subcommand list-segments" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand list-segments" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand list-segments" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand list-segments" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand list-segments" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand list-segments" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand list-segments" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand list-segments" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand list-segments" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand list-segments" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand list-names" -l address -d 'Only the names of this address' -r
complete -c rea -n "__fish_rea_using_subcommand list-names" -l architecture -d 'Slice of a universal file; its first one otherwise' -r
complete -c rea -n "__fish_rea_using_subcommand list-names" -l detail -d 'How much of the record to deliver; `summary` needs a session' -r -f -a "complete\t'All of it'
summary\t'A view, while the session keeps the record'"
complete -c rea -n "__fish_rea_using_subcommand list-names" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand list-names" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand list-names" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand list-names" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand list-names" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand list-names" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand list-names" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand list-names" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand list-names" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand list-names" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand list-strings" -l address -d 'Only the string at this address, or around it' -r
complete -c rea -n "__fish_rea_using_subcommand list-strings" -s n -l min-length -d 'Fewest characters of a string' -r
complete -c rea -n "__fish_rea_using_subcommand list-strings" -l encoding -d 'Only this encoding; may be given again [default: all]' -r -f -a "ascii\t'Bytes below 0x80'
utf-8\t'UTF-8 with characters beyond ASCII'
utf-16le\t'UTF-16, lower byte first'
utf-16be\t'UTF-16, higher byte first'"
complete -c rea -n "__fish_rea_using_subcommand list-strings" -l architecture -d 'Slice of a universal file; its first one otherwise' -r
complete -c rea -n "__fish_rea_using_subcommand list-strings" -l detail -d 'How much of the record to deliver; `summary` needs a session' -r -f -a "complete\t'All of it'
summary\t'A view, while the session keeps the record'"
complete -c rea -n "__fish_rea_using_subcommand list-strings" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand list-strings" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand list-strings" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand list-strings" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand list-strings" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand list-strings" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand list-strings" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand list-strings" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand list-strings" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand list-strings" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand search-strings" -l mode -d 'How the pattern is read' -r -f -a "literal\t'The characters themselves'
regex\t'A regular expression'"
complete -c rea -n "__fish_rea_using_subcommand search-strings" -s n -l min-length -d 'Fewest characters of a string' -r
complete -c rea -n "__fish_rea_using_subcommand search-strings" -l encoding -d 'Only this encoding; may be given again [default: all]' -r -f -a "ascii\t'Bytes below 0x80'
utf-8\t'UTF-8 with characters beyond ASCII'
utf-16le\t'UTF-16, lower byte first'
utf-16be\t'UTF-16, higher byte first'"
complete -c rea -n "__fish_rea_using_subcommand search-strings" -l architecture -d 'Slice of a universal file; its first one otherwise' -r
complete -c rea -n "__fish_rea_using_subcommand search-strings" -l detail -d 'How much of the record to deliver; `summary` needs a session' -r -f -a "complete\t'All of it'
summary\t'A view, while the session keeps the record'"
complete -c rea -n "__fish_rea_using_subcommand search-strings" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand search-strings" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand search-strings" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand search-strings" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand search-strings" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand search-strings" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand search-strings" -l case-sensitive -d 'Let capital letters differ from small ones'
complete -c rea -n "__fish_rea_using_subcommand search-strings" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand search-strings" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand search-strings" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand search-strings" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand search" -l mode -d 'How the pattern is read' -r -f -a "literal\t'The characters themselves'
regex\t'A regular expression'"
complete -c rea -n "__fish_rea_using_subcommand search" -s n -l min-length -d 'Fewest characters of a string' -r
complete -c rea -n "__fish_rea_using_subcommand search" -l encoding -d 'Only this encoding; may be given again [default: all]' -r -f -a "ascii\t'Bytes below 0x80'
utf-8\t'UTF-8 with characters beyond ASCII'
utf-16le\t'UTF-16, lower byte first'
utf-16be\t'UTF-16, higher byte first'"
complete -c rea -n "__fish_rea_using_subcommand search" -l architecture -d 'Slice of a universal file; its first one otherwise' -r
complete -c rea -n "__fish_rea_using_subcommand search" -l detail -d 'How much of the record to deliver; `summary` needs a session' -r -f -a "complete\t'All of it'
summary\t'A view, while the session keeps the record'"
complete -c rea -n "__fish_rea_using_subcommand search" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand search" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand search" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand search" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand search" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand search" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand search" -l case-sensitive -d 'Let capital letters differ from small ones'
complete -c rea -n "__fish_rea_using_subcommand search" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand search" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand search" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand search" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand search-bytes" -l mask -d 'Bits that must match, as pairs of hexadecimal digits' -r
complete -c rea -n "__fish_rea_using_subcommand search-bytes" -l architecture -d 'Slice of a universal file; its first one otherwise' -r
complete -c rea -n "__fish_rea_using_subcommand search-bytes" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand search-bytes" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand search-bytes" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand search-bytes" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand search-bytes" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand search-bytes" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand search-bytes" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand search-bytes" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand search-bytes" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand search-bytes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand read-bytes" -l architecture -d 'Slice of a universal file; its first one otherwise' -r
complete -c rea -n "__fish_rea_using_subcommand read-bytes" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand read-bytes" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand read-bytes" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand read-bytes" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand read-bytes" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand read-bytes" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand read-bytes" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand read-bytes" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand read-bytes" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand read-bytes" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand address-to-file-offset" -l architecture -d 'Slice of a universal file; its first one otherwise' -r
complete -c rea -n "__fish_rea_using_subcommand address-to-file-offset" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand address-to-file-offset" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand address-to-file-offset" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand address-to-file-offset" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand address-to-file-offset" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand address-to-file-offset" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand address-to-file-offset" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand address-to-file-offset" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand address-to-file-offset" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand address-to-file-offset" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand demangle" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand demangle" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand demangle" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand demangle" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand demangle" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand demangle" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand demangle" -l filter -d 'Rewrite the names in the text on standard input'
complete -c rea -n "__fish_rea_using_subcommand demangle" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand demangle" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand demangle" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand demangle" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand demangle-swift" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand demangle-swift" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand demangle-swift" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand demangle-swift" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand demangle-swift" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand demangle-swift" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand demangle-swift" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand demangle-swift" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand demangle-swift" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand demangle-swift" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -l record -d 'Only this record, counted from 0; may be given again, in the wanted order [default: all]' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -l sensitive-value -d 'Leave out whatever holds this text; may be given again' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -l max-capture-bytes -d 'Bytes of the capture at most, also once it is unpacked' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand inspect-web-network-capture" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand environment-serve" -l evidence -d 'Evidence of the capture that the manifest was made of, `-` for standard input' -r -F
complete -c rea -n "__fish_rea_using_subcommand environment-serve" -l host -d 'Address to listen on [default: MCP_HOST, or 127.0.0.1]' -r
complete -c rea -n "__fish_rea_using_subcommand environment-serve" -l port -d 'Port to listen on [default: MCP_PORT, or any that is free]' -r
complete -c rea -n "__fish_rea_using_subcommand environment-serve" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand environment-serve" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand environment-serve" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand environment-serve" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand environment-serve" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand environment-serve" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand environment-serve" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand environment-serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -l template-rule -d 'Also apply this rule to path segments; may be given again' -r -f -a "after-uid-literal\t'What stands behind a segment `uid` is a parameter'
opaque-token\t'Runs of letters and digits that no one would write are parameters'
sibling-variance\t'Three values where all else is equal are a parameter'"
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -l exit-code -d 'Exit with 3 where something differs, with 4 where it cannot be told'
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -l any-origin -d 'Take the same path for the same operation on every origin, as where the two sides were recorded on different hosts'
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand compare-api-surfaces" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand compare-web-captures" -l normalization-json -d 'Of scenarios: text to replace before it is compared, as JSON: `{"rules": [{"rule_id", "artifacts", "match", "replacement"}]}`' -r
complete -c rea -n "__fish_rea_using_subcommand compare-web-captures" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand compare-web-captures" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand compare-web-captures" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand compare-web-captures" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand compare-web-captures" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand compare-web-captures" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand compare-web-captures" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand compare-web-captures" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand compare-web-captures" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand compare-web-captures" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand compare-web-screenshots" -l channel-threshold -d 'Difference of a channel that is still no change, 0 to 255' -r
complete -c rea -n "__fish_rea_using_subcommand compare-web-screenshots" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand compare-web-screenshots" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand compare-web-screenshots" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand compare-web-screenshots" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand compare-web-screenshots" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand compare-web-screenshots" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand compare-web-screenshots" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand compare-web-screenshots" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand compare-web-screenshots" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand compare-web-screenshots" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l max-input-bytes -d 'Bytes to read of one file at most' -r
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand verify-evidence" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand bundle" -l max-input-bytes -d 'Bytes to read of one file at most' -r
complete -c rea -n "__fish_rea_using_subcommand bundle" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand bundle" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand bundle" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand bundle" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand bundle" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand bundle" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand bundle" -l empty -d 'Make a bundle of nothing'
complete -c rea -n "__fish_rea_using_subcommand bundle" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand bundle" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand bundle" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand bundle" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand evidence-import" -l expect-sha256 -d 'Go on only if this is the SHA-256 of the bundle' -r
complete -c rea -n "__fish_rea_using_subcommand evidence-import" -l max-input-bytes -d 'Bytes to read of the file at most' -r
complete -c rea -n "__fish_rea_using_subcommand evidence-import" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand evidence-import" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand evidence-import" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand evidence-import" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand evidence-import" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand evidence-import" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand evidence-import" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand evidence-import" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand evidence-import" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand evidence-import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand evidence-export" -l expect-sha256 -d 'Go on only if this is the SHA-256 of the bundle' -r
complete -c rea -n "__fish_rea_using_subcommand evidence-export" -l max-input-bytes -d 'Bytes to read of the file at most' -r
complete -c rea -n "__fish_rea_using_subcommand evidence-export" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand evidence-export" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand evidence-export" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand evidence-export" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand evidence-export" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand evidence-export" -l overwrite -d 'Replace the file where it is there'
complete -c rea -n "__fish_rea_using_subcommand evidence-export" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand evidence-export" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand evidence-export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l detail -d 'How much of each record to deliver' -r -f -a "summary\t'What it is about and who made it'"
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l evidence-id -d 'Only the record with this id' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l operation -d 'Only records of this operation, such as `inspect_artifact`' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l target-sha256 -d 'Only records about the artifact with this SHA-256' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l analysis-profile-digest -d 'Only records with the analysis profile of this digest' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l procedure-address -d 'Only records about the function at this address' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l expect-sha256 -d 'Go on only if this is the SHA-256 of the bundle' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l max-input-bytes -d 'Bytes to read of the file at most' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand inspect-evidence-bundle" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -l pair -d 'Two records that belong together though their ids differ; repeatable' -r
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -l offset -d 'Items to pass over' -r
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -l limit -d 'Items to list' -r
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -l max-records -d 'Records and revisions of unknowns of both sides together' -r
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -l max-input-bytes -d 'Bytes to read of one file at most' -r
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -l exit-code -d 'Exit 3 if changed, 4 if that cannot be told, 5 for a contradiction'
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand compare-bundles" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand compare" -l pair -d 'Two records that belong together though their ids differ; repeatable' -r
complete -c rea -n "__fish_rea_using_subcommand compare" -l offset -d 'Items to pass over' -r
complete -c rea -n "__fish_rea_using_subcommand compare" -l limit -d 'Items to list' -r
complete -c rea -n "__fish_rea_using_subcommand compare" -l max-records -d 'Records and revisions of unknowns of both sides together' -r
complete -c rea -n "__fish_rea_using_subcommand compare" -l max-input-bytes -d 'Bytes to read of one file at most' -r
complete -c rea -n "__fish_rea_using_subcommand compare" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand compare" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand compare" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand compare" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand compare" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand compare" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand compare" -l exit-code -d 'Exit 3 if changed, 4 if that cannot be told, 5 for a contradiction'
complete -c rea -n "__fish_rea_using_subcommand compare" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand compare" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand compare" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l expect-sha256 -d 'Go on only if this is the SHA-256 of the bundle' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l max-input-bytes -d 'Bytes to read of the file at most' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l question -d 'The question' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l severity -d 'How much depends on it' -r -f -a "low\t'Little'
medium\t'Something'
high\t'Much'
critical\t'Everything'"
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l domain -d 'The field it belongs to, such as `protocol`' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l about -d 'The record whose artifact the question is about [default: none]' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l supporting -d 'A record that speaks for an answer; repeatable' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l contradicting -d 'A record that speaks against it; repeatable' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l required-authority -d 'What an answer must rest on [default: anything]' -r -f -a "shipped-artifact\t'The software as shipped'
controlled-replay\t'A run of the software under control'
historical-reference\t'An older release or its documents'
external-service\t'An answer from outside'
analyst-inference\t'A conclusion'"
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l required-confidence -d 'How an answer must have been reached, at least' -r -f -a "observed\t'Read from bytes'
derived\t'Computed from records'
inferred\t'Concluded'"
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l required-environment -d 'Where an answer must come from: `platform=linux,isolation=container`' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l probe -d 'An operation that may help; repeatable' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l relationship -d 'A link: `depends-on:ID`, `related-to:ID`, `contradicts:ID`; repeatable' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand record-unknown" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l expect-sha256 -d 'Go on only if this is the SHA-256 of the bundle' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l max-input-bytes -d 'Bytes to read of the file at most' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l expected-revision -d 'The newest revision that you have seen' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l status -d 'How far it has come; `resolved` with --disposition' -r -f -a "open\t'Nobody works on it'
investigating\t'Somebody works on it'
blocked\t'Work cannot go on'
contradicted\t'There is a record against what was thought'
resolved\t'It has a resolution'"
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l severity -d 'How much depends on it' -r -f -a "low\t'Little'
medium\t'Something'
high\t'Much'
critical\t'Everything'"
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l supporting -d 'A record that speaks for an answer; repeatable' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l contradicting -d 'A record that speaks against it; repeatable' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l required-authority -d 'What an answer must rest on' -r -f -a "shipped-artifact\t'The software as shipped'
controlled-replay\t'A run of the software under control'
historical-reference\t'An older release or its documents'
external-service\t'An answer from outside'
analyst-inference\t'A conclusion'"
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l required-confidence -d 'How an answer must have been reached, at least' -r -f -a "observed\t'Read from bytes'
derived\t'Computed from records'
inferred\t'Concluded'"
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l required-environment -d 'Where an answer must come from: `platform=linux,isolation=container`' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l probe -d 'An operation that may help; repeatable' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l relationship -d 'A link: `depends-on:ID`, `related-to:ID`, `contradicts:ID`; repeatable' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l disposition -d 'Resolve it in this way' -r -f -a "verified\t'Records answer it'
withdrawn\t'It need not be asked'
out-of-scope\t'It is not for this investigation'"
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l rationale -d 'Why it is resolved so' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l resolved-by -d 'A record that resolves it; repeatable' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l clear -d 'Make empty what is there; repeatable' -r -f -a "supporting\t'Supporting records'
contradicting\t'Contradicting records'
required-authority\t'What an answer must rest on'
required-environment\t'Where an answer must come from'
probes\t'Operations that may help'
relationships\t'Links to other unknowns'"
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand update-unknown" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l expect-sha256 -d 'Go on only if this is the SHA-256 of the bundle' -r
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l max-input-bytes -d 'Bytes to read of the file at most' -r
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l status -d 'Only those that have come so far' -r -f -a "open\t'Nobody works on it'
investigating\t'Somebody works on it'
blocked\t'Work cannot go on'
contradicted\t'There is a record against what was thought'
resolved\t'It has a resolution'"
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l severity -d 'Only those on which so much depends' -r -f -a "low\t'Little'
medium\t'Something'
high\t'Much'
critical\t'Everything'"
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l domain -d 'Only those of this field' -r
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l offset -d 'Matches to pass over' -r
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l limit -d 'Matches to list [default: all]' -r
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand list-unknowns" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand verify-unknown-resolution" -l expect-sha256 -d 'Go on only if this is the SHA-256 of the bundle' -r
complete -c rea -n "__fish_rea_using_subcommand verify-unknown-resolution" -l max-input-bytes -d 'Bytes to read of the file at most' -r
complete -c rea -n "__fish_rea_using_subcommand verify-unknown-resolution" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand verify-unknown-resolution" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand verify-unknown-resolution" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand verify-unknown-resolution" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand verify-unknown-resolution" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand verify-unknown-resolution" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand verify-unknown-resolution" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand verify-unknown-resolution" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand verify-unknown-resolution" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand verify-unknown-resolution" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand inspect-analysis-view" -l max-input-bytes -d 'Bytes to read of the request and of the record at most' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-analysis-view" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand inspect-analysis-view" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-analysis-view" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand inspect-analysis-view" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-analysis-view" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand inspect-analysis-view" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand inspect-analysis-view" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand inspect-analysis-view" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand inspect-analysis-view" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand inspect-analysis-view" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand mcp" -l host -d 'Address to listen on [default: MCP_HOST, or 127.0.0.1]' -r
complete -c rea -n "__fish_rea_using_subcommand mcp" -l port -d 'Port to listen on [default: MCP_PORT, or any that is free]' -r
complete -c rea -n "__fish_rea_using_subcommand mcp" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand mcp" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand mcp" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand mcp" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand mcp" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand mcp" -l http -d 'Listen for HTTP instead of using standard input and output'
complete -c rea -n "__fish_rea_using_subcommand mcp" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand mcp" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand setup" -l client -d 'Client to register with, found here or not; repeatable' -r -f -a "claude-code\t''
claude-desktop\t''
codex\t''
cursor\t''
gemini-cli\t''
vscode\t''
windsurf\t''"
complete -c rea -n "__fish_rea_using_subcommand setup" -l detail -d 'How much to tell' -r -f -a "summary\t'The outcome'
full\t'Everything that was looked at'"
complete -c rea -n "__fish_rea_using_subcommand setup" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand setup" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand setup" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand setup" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand setup" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand setup" -l all-detected -d 'All clients that are found, with one question for all of them'
complete -c rea -n "__fish_rea_using_subcommand setup" -l skill -d 'Install the skill too: a page that teaches agents the workflow'
complete -c rea -n "__fish_rea_using_subcommand setup" -s y -l yes -d 'Do it without asking'
complete -c rea -n "__fish_rea_using_subcommand setup" -l dry-run -d 'Show the plan and change nothing, as --json does'
complete -c rea -n "__fish_rea_using_subcommand setup" -l accessible -d 'Sentences in place of tables'
complete -c rea -n "__fish_rea_using_subcommand setup" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand setup" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand setup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand uninstall" -l client -d 'Client to take it out of; repeatable' -r -f -a "claude-code\t''
claude-desktop\t''
codex\t''
cursor\t''
gemini-cli\t''
vscode\t''
windsurf\t''"
complete -c rea -n "__fish_rea_using_subcommand uninstall" -l detail -d 'How much to tell' -r -f -a "summary\t'The outcome'
full\t'Everything that was looked at'"
complete -c rea -n "__fish_rea_using_subcommand uninstall" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand uninstall" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand uninstall" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand uninstall" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand uninstall" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand uninstall" -l purge-data -d 'Remove the copies of settings too that earlier runs kept'
complete -c rea -n "__fish_rea_using_subcommand uninstall" -s y -l yes -d 'Do it without asking'
complete -c rea -n "__fish_rea_using_subcommand uninstall" -l dry-run -d 'Show the plan and change nothing, as --json does'
complete -c rea -n "__fish_rea_using_subcommand uninstall" -l accessible -d 'Sentences in place of tables'
complete -c rea -n "__fish_rea_using_subcommand uninstall" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand uninstall" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand uninstall" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand doctor" -l target -d 'File or application that must open' -r -F
complete -c rea -n "__fish_rea_using_subcommand doctor" -l client -d 'Client in which this program must be registered; repeatable' -r -f -a "claude-code\t''
claude-desktop\t''
codex\t''
cursor\t''
gemini-cli\t''
vscode\t''
windsurf\t''"
complete -c rea -n "__fish_rea_using_subcommand doctor" -l provider -d 'Provider that must be there, and take the target; repeatable' -r
complete -c rea -n "__fish_rea_using_subcommand doctor" -l detail -d 'How much to tell' -r -f -a "summary\t'The outcome'
full\t'Everything that was looked at'"
complete -c rea -n "__fish_rea_using_subcommand doctor" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand doctor" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand doctor" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand doctor" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand doctor" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand doctor" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand doctor" -l skill -d 'The skill must be installed in these clients, or in all that are found'
complete -c rea -n "__fish_rea_using_subcommand doctor" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand doctor" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand doctor" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand providers" -l target -d 'File or application to choose a provider for' -r -F
complete -c rea -n "__fish_rea_using_subcommand providers" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand providers" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand providers" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand providers" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand providers" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand providers" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand providers" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand providers" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand providers" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand providers" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l target -d 'File or application for which operations are to be available' -r -F
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand capabilities" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand capabilities" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand capabilities" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand capabilities" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand capabilities" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c rea -n "__fish_rea_using_subcommand catalog" -l format -d 'How to write the result [default: report on a terminal, else canonical]' -r -f -a "canonical\t'One line of canonical JSON (RFC 8785)'
json\t'The same record, indented by two spaces'
report\t'Text for reading'
markdown\t'The same text as Markdown'"
complete -c rea -n "__fish_rea_using_subcommand catalog" -l rows -d 'Rows of a table in a report: a number or `all`' -r
complete -c rea -n "__fish_rea_using_subcommand catalog" -s o -l output -d 'Write to FILE, complete or not at all, and say its id on stderr' -r -F
complete -c rea -n "__fish_rea_using_subcommand catalog" -s j -l threads -d 'Worker threads; never changes a result [default: all cores]' -r
complete -c rea -n "__fish_rea_using_subcommand catalog" -l color -d 'When to use colours' -r -f -a "auto\t''
always\t''
never\t''"
complete -c rea -n "__fish_rea_using_subcommand catalog" -l disorder -d 'Test hook: shuffles listings and delays work; never changes a result' -r
complete -c rea -n "__fish_rea_using_subcommand catalog" -l json -d 'The same as --format json; errors are JSON too'
complete -c rea -n "__fish_rea_using_subcommand catalog" -l overwrite -d 'Let --output replace a file'
complete -c rea -n "__fish_rea_using_subcommand catalog" -s q -l quiet -d 'No progress and no notes on stderr; errors are still said'
complete -c rea -n "__fish_rea_using_subcommand catalog" -s h -l help -d 'Print help (see more with \'--help\')'
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
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "inspect-artifact" -d 'Say what a file or folder is, what is in it and what to look at next'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "diff" -d 'Say what changed between two releases: entries, moves and sizes'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "view" -d 'Show a part of a record: its summary, or rows of one of its lists'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "inventory-artifact" -d 'List every entry of a file or folder, hashed and classified'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "extract-artifact" -d 'Write members of an archive, package or folder as files'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "compare-artifacts" -d 'Compare two inventories, path by path'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "inspect-plist" -d 'Read a property list of any notation, with exact types'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "inspect-binary-layout" -d 'Lay out an ELF, PE, COFF or Mach-O file'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "inspect-macho" -d 'Read the header, load commands, imports and exports of a Mach-O file'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "list-architectures" -d 'List the architectures of a Mach-O file'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "inspect-wasm-artifact" -d 'Take a WebAssembly module or component apart'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "list-segments" -d 'List what the loader maps, with permissions and sections'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "list-names" -d 'List the names that the file gives to addresses'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "list-strings" -d 'List the strings of a file, with encodings, addresses and exact ranges'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "search-strings" -d 'Find strings of a file by their text'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "search-bytes" -d 'Find a pattern of bytes in initialized memory'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "read-bytes" -d 'Read bytes of initialized memory at an address'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "address-to-file-offset" -d 'Tell where in the file the byte at an address stands'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "demangle" -d 'Write mangled names as people write them'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "demangle-swift" -d 'Write the Swift names of a program as people write them'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "inspect-web-network-capture" -d 'Read a recording of web traffic (HAR), without credentials'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "environment-serve" -d 'Serve recorded web traffic to agents, as tools that replay it'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "compare-api-surfaces" -d 'Compare the APIs that two recordings of web traffic show'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "compare-web-captures" -d 'Compare two observations of a page, or two runs of a scenario'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "compare-web-screenshots" -d 'Compare two screenshots, pixel by pixel'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "verify-evidence" -d 'Check that records are what their ids say'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "bundle" -d 'Merge records and bundles into one bundle'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "evidence-import" -d 'Check a bundle as an import does, and count what it brings'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "evidence-export" -d 'Write a bundle to a file in canonical form, complete or not at all'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "inspect-evidence-bundle" -d 'Deliver a bundle, or a summary of its records'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "compare-bundles" -d 'Compare what two bundles hold: records and the histories of unknowns'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "record-unknown" -d 'Record a question that analysis left open in a bundle'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "update-unknown" -d 'Write the next revision of an unknown in a bundle'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "list-unknowns" -d 'List the unknowns of a bundle, each in its newest revision'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "verify-unknown-resolution" -d 'Say whether an unknown is resolved, and whether records verify it'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "inspect-analysis-view" -d 'Select facts from a record, as a request file says'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "mcp" -d 'Serve the operations to agents, over stdio or HTTP'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "setup" -d 'Register rea with the agents on this machine'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "uninstall" -d 'Take rea out of the agents on this machine'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "doctor" -d 'Check that rea can work here, and where it is registered'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "providers" -d 'List the providers of analysis and which of them takes a target'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "capabilities" -d 'List the operations, whether they can run here, and what each takes'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "catalog" -d 'Write the catalog of this build, for programs'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "completions" -d 'Print the completion script for a shell'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "generate" -d 'Print a generated file of the source tree, or the names of all'
complete -c rea -n "__fish_rea_using_subcommand help; and not __fish_seen_subcommand_from inspect-artifact diff view inventory-artifact extract-artifact compare-artifacts inspect-plist inspect-binary-layout inspect-macho list-architectures inspect-wasm-artifact list-segments list-names list-strings search-strings search-bytes read-bytes address-to-file-offset demangle demangle-swift inspect-web-network-capture environment-serve compare-api-surfaces compare-web-captures compare-web-screenshots verify-evidence bundle evidence-import evidence-export inspect-evidence-bundle compare-bundles record-unknown update-unknown list-unknowns verify-unknown-resolution inspect-analysis-view mcp setup uninstall doctor providers capabilities catalog completions generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
