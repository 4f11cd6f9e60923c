# Completion for bash. It asks latchkey itself what can follow, so it knows every command of the installed version.
# Nothing that latchkey answers is evaluated: names of znodes are other people's text.

_latchkey() {
    local program=latchkey line=${COMP_LINE:0:COMP_POINT} part words=() first=() i
    [[ $1 != */* || ! -x $1 ]] || program=$1

    # COMP_WORDS is split at COMP_WORDBREAKS too; words of the shell are what latchkey understands.
    for ((i = 0; i <= COMP_CWORD; ++i)); do
        if ((i == 0)) || [[ -z $line || $line == [[:space:]]* ]]; then
            line=${line#"${line%%[![:space:]]*}"}
            words+=("") first+=("$i")
        fi
        part=${COMP_WORDS[i]}
        ((i < COMP_CWORD)) || part=$line
        words[${#words[@]} - 1]+=$part
        line=${line#"$part"}
    done

    local answers=() answer action=nothing current=${words[${#words[@]} - 1]} kept=
    mapfile -t answers < <("$program" __complete bash "${words[@]:1}" 2>/dev/null)
    if ((${#answers[@]} > 0)); then
        action=${answers[${#answers[@]} - 1]#:}
        unset "answers[${#answers[@]} - 1]"
    fi

    case $action in
        files)
            compopt -o default
            return
            ;;
        'command '*)
            i=$((${action#command } + 1))
            if declare -F _command_offset >/dev/null; then
                _command_offset "${first[i]}"
            elif ((i == ${#words[@]} - 1)); then
                compopt -o default
                mapfile -t COMPREPLY < <(compgen -c -- "$current")
            else
                compopt -o default
            fi
            return
            ;;
        nospace) compopt -o nospace ;;
    esac

    # Readline replaces only what follows the last of these.
    if [[ $current == *[=:]* && $current != [\'\"]* ]]; then
        part=${current##*[=:]}
        part=${current:${#current}-${#part}-1:1}
        [[ $COMP_WORDBREAKS != *"$part"* ]] || kept=${current%"${current##*[=:]}"}
    fi
    for answer in "${answers[@]}"; do
        answer=${answer%%$'\t'*}
        COMPREPLY+=("${answer#"$kept"}")
    done
}

complete -F _latchkey latchkey
