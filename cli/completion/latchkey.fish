# Completion for fish. It asks latchkey itself what can follow, so it knows every command of the installed version.
# Nothing that latchkey answers is evaluated: names of znodes are other people's text.

function __latchkey_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program latchkey
    string match -q '*/*' -- $words[1]; and test -x $words[1]; and set program $words[1]
    set -e words[1]
    set -l answers (command $program __complete fish $words (string unescape -- $current; or printf '%s\n' $current) 2>/dev/null)
    set -l action $answers[-1]
    switch "$action"
        case ':files'
            set -l option (string match -r '^--[^=]*=' -- $current)
            for path in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- $current))
                printf '%s%s\n' "$option" $path
            end
        case ':command *'
            set -l begin (math (string replace ':command ' '' -- $action) + 1)
            # Quoted again, so that this line is read as it was typed.
            set -l line
            for word in $words[$begin..]
                set -a line (string escape -- $word)
            end
            complete -C (string join ' ' -- $line $current)
        case ':*'
            set -e answers[-1]
            test (count $answers) -eq 0; or printf '%s\n' $answers
    end
end

complete -c latchkey -f -a '(__latchkey_complete)'
