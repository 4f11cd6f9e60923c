#!/usr/bin/env bash
# readme_test.sh RULE [TREE]: what README.md and the other pages say of the tree is so.
set -u
export LC_ALL=C.UTF-8 # in others [a-z] is another set of letters
cd -- "${2:-$(dirname -- "${BASH_SOURCE[0]}")/../..}" || exit 1

fail() {
    printf '%s\n' "$@"
    exit 1
}

# The first block of C++ in README.md is the marked part of examples/readme.cpp, which the tests compile and run.
readme_shows_its_example() {
    local shown marked
    shown=$(awk '/^```cpp$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' README.md)
    marked=$(awk '/^\/\/ \[\/readme\]$/ { exit } inside; /^\/\/ \[readme\]$/ { inside = 1 }' examples/readme.cpp)
    [[ -n $shown && $shown == "$marked" ]] ||
        fail "README.md and examples/readme.cpp differ:" "$(diff <(echo "$shown") <(echo "$marked"))"
}

readme_fits_on_a_few_screens() {
    local lines
    lines=$(wc -l <README.md)
    ((lines <= 200)) || fail "README.md: $lines lines of 200"
}

pages() { find . -maxdepth 1 -name '*.md'; find docs examples -name '*.md'; }

# `src/...` and the like in backquotes, without a wildcard: a file or folder; a C++ file may be named without its ending.
# shellcheck disable=SC2016
named_files_exist() {
    local page name bad=()
    while read -r page; do
        while read -r name; do
            compgen -G "$name" >/dev/null || compgen -G "$name.[ch]pp" >/dev/null || bad+=("$page: $name")
        done < <(grep -oE '`(include|src|recipes|cli|tests|bench|examples|docs|cmake|scripts)/[^` ]*' "$page" | tr -d '`')
    done < <(pages)
    ((${#bad[@]} == 0)) || fail "${bad[@]}"
}

# Options that pages give to `latchkey lock` are in its help, and the help's exit statuses are in README.md.
command_is_described_as_it_is() {
    local option status bad=()
    while read -r option; do
        grep -qsE -- "[{ ]\"(-[A-Za-z], )?${option}[,\"]" cli/options/{lock_options,run_options,shared_options,command_syntax}.?pp ||
            bad+=("cli/options/lock_options.cpp has no $option")
    done < <(grep -hoE 'latchkey lock [^|`]*' README.md docs/*.md | sed -E 's, (/[a-z]|-- ).*,,' | grep -oE -- ' --?[a-zA-Z][a-z-]*' | tr -d ' ')
    while read -r status; do
        grep -qE "\| $status(, [0-9]+)? \|" README.md || bad+=("README.md does not explain exit status $status")
    done < <(sed -n '/\.failures = /,/}},$/p' cli/options/lock_options.cpp | grep -oE '\{(1|6[0-9]|7[0-9]|126),' | tr -d '{,')
    ((${#bad[@]} == 0)) || fail "${bad[@]}"
}

# Every errc, and every exit status of the help, has its row in docs/troubleshooting.md; and a text that its tables of
# messages quote stands in the sources. Some texts are put together there, or are the system's.
# shellcheck disable=SC2016
troubleshooting_is_complete() {
    local page=docs/troubleshooting.md all found bad=()
    while read -r found; do
        sed -n '/^### Every code/,/^## /p' "$page" | grep -qF "| \`$found\` |" || bad+=("$page has no row for errc::$found")
    done < <(sed -n '/^enum class errc/,/^};/p' include/latchkey/error.hpp | sed -nE 's/^ +([a-z_]+)( = 1)?,$/\1/p')
    while read -r found; do
        grep -qE "^\| ${found}[ ,|]" "$page" || bad+=("$page has no row for exit status $found")
    done < <(sed -nE 's/^inline constexpr int [a-z_]+ = ([0-9]+);.*/\1/p' cli/output/exit_status.hpp)
    all=$(find src recipes cli -name '*.?pp' -exec cat {} + | perl -0pe 's/"\s*\n\s*"//g; s/\\"/"/g')
    while read -r found; do
        case $found in
            'Connection refused' | 'cannot create the znode again' | 'cannot write data') continue ;;
        esac
        [[ $all == *"$found"* ]] || bad+=("$page: no source prints \"$found\"")
    done < <(sed -n '/^## Messages/,/^## Error codes/p' "$page" | grep -oE '^\| `[^|]*' | grep -oE '`[^`]+`' | sed -E 's/^` *| *`$//g')
    ((${#bad[@]} == 0)) || fail "${bad[@]}"
}

# A rule that cannot fail holds nothing: a tree that offends each, and what the complaint must name.
rules_find_offenders() {
    local self tree said missed=0
    self=$PWD/tests/house/readme_test.sh
    tree=$(mktemp -d -t latchkey.XXXXXX) || exit 1
    # shellcheck disable=SC2064
    trap "rm -rf '$tree'" EXIT
    mkdir -p "$tree"/{docs,examples,cli/options,cli/output,src,recipes,include/latchkey}
    # shellcheck disable=SC2016
    {
        printf '```cpp\nint a;\n```\nlatchkey lock --unknown /x -- y\n'
        yes 'many lines' | head -n 201
    } >"$tree/README.md"
    printf '// [readme]\nint b;\n// [/readme]\n' >"$tree/examples/readme.cpp"
    # shellcheck disable=SC2016
    printf '# Found\n`src/nowhere.cpp`\n' >"$tree/docs/page.md"
    printf 'enum class errc {\n    unheard_of = 1,\n};\n' >"$tree/include/latchkey/error.hpp"
    printf 'inline constexpr int unheard = 99;\n' >"$tree/cli/output/exit_status.hpp"
    # shellcheck disable=SC2016
    printf '## Messages\n| `never printed` | x |\n## Error codes\n' >"$tree/docs/troubleshooting.md"
    printf '    .failures = {{64, "wrong use"}},\n' >"$tree/cli/options/lock_options.cpp"
    expect() {
        said=$(bash "$self" "$1" "$tree" 2>&1) && { echo "$1 finds nothing"; missed=1; }
        [[ $said == *"$2"* ]] || { printf '%s does not name %s, but says:\n%s\n' "$1" "$2" "$said"; missed=1; }
    }
    expect readme_shows_its_example 'int b;'
    expect readme_fits_on_a_few_screens 200
    expect named_files_exist src/nowhere.cpp
    expect command_is_described_as_it_is --unknown
    expect command_is_described_as_it_is 'exit status 64'
    expect troubleshooting_is_complete errc::unheard_of
    expect troubleshooting_is_complete 'exit status 99'
    expect troubleshooting_is_complete 'never printed'
    ((missed == 0))
}

[[ $(type -t "$1") == function ]] || fail "no rule $1"
"$1"
