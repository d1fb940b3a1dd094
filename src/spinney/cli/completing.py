"""Completion scripts, written from the table of arguments."""

import argparse
from dataclasses import dataclass

from spinney.cli.families import FAMILIES


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a command."""

    names: tuple[str, ...]
    help: str
    choices: tuple[str, ...]
    takes_value: bool
    is_file: bool


@dataclass(frozen=True, slots=True)
class Completions:
    """What can be completed: commands, their options, and the values of these."""

    commands: dict[str, str]
    options: dict[str, tuple[Option, ...]]
    values: dict[str, tuple[str, ...]]
    """Of commands whose first argument is one of a few words."""

    @classmethod
    def of(cls, parser: argparse.ArgumentParser) -> "Completions":
        """Read the parser of the ``spinney`` command."""
        (subparsers,) = (
            action
            for action in parser._actions  # noqa: SLF001 - argparse has no other way in
            if isinstance(action, argparse._SubParsersAction)  # noqa: SLF001
        )
        helps = {choice.dest: choice.help or "" for choice in subparsers._choices_actions}  # noqa: SLF001
        options, values = {}, {}
        for name, own in subparsers.choices.items():
            actions = own._actions  # noqa: SLF001
            options[name] = tuple(_option(one) for one in actions if one.option_strings)
            words = [one.choices for one in actions if one.choices and not one.option_strings]
            values[name] = tuple(map(str, words[0] or ())) if words else ()
        return cls(helps, options, values)


def _option(action: argparse.Action) -> Option:
    choices = tuple(map(str, action.choices or ()))
    if "--model" in action.option_strings or "--models" in action.option_strings:
        choices = tuple(FAMILIES)
    return Option(
        tuple(action.option_strings),
        (action.help or "").replace("%%", "%"),
        choices,
        action.nargs != 0,
        action.metavar == "FILE",
    )


def bash_script(completions: Completions) -> str:
    """Write the script for bash."""
    cases = []
    for name, options in completions.options.items():
        words = " ".join(text for option in options for text in option.names)
        values = [
            f"            {'|'.join(option.names)}) "
            f'COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$word")); return;;'
            for option in options
            if option.choices
        ]
        first = " ".join(completions.values[name])
        cases.append(
            f"        {name})\n          case $before in\n"
            + "\n".join(values)
            + ("\n" if values else "")
            + f'          esac\n          words="{words}"; first="{first}";;'
        )
    commands = " ".join(completions.commands)
    return f"""# bash completion of spinney; source it
_spinney() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words="" first=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word")); return
    fi
    case ${{COMP_WORDS[1]}} in
{chr(10).join(cases)}
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    elif [ -n "$first" ]; then
        COMPREPLY=($(compgen -W "$first" -- "$word"))
    else
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -F _spinney spinney"""


def zsh_script(completions: Completions) -> str:
    """Write the script for zsh."""
    names = "\n".join(
        f"        {_zsh_quoted(f'{name}:{text}')}" for name, text in completions.commands.items()
    )
    cases = []
    for name, options in completions.options.items():
        specs = [_zsh_spec(option, text) for option in options for text in option.names]
        words = completions.values[name]
        specs.append(f"'*:word:({' '.join(words)})'" if words else "'*:file:_files'")
        lines = " \\\n                ".join(specs)
        cases.append(f"            {name})\n                _arguments {lines};;")
    return f"""#compdef spinney
# zsh completion of spinney; put it into a folder of fpath as _spinney
_spinney() {{
    local -a commands
    commands=(
{names}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
    else
        local command=$words[2]
        shift words; (( CURRENT-- ))
        case $command in
{chr(10).join(cases)}
        esac
    fi
}}
if [ "$funcstack[1]" = _spinney ]; then _spinney "$@"; else compdef _spinney spinney; fi"""


def _zsh_spec(option: Option, name: str) -> str:
    text = option.help.replace("[", "(").replace("]", ")").replace(":", " -")
    spec = f"{name}[{text}]"
    if option.takes_value:
        what = f"({' '.join(option.choices)})" if option.choices else ""
        spec += f":value:{what or ('_files' if option.is_file else ' ')}"
    return _zsh_quoted("*" + spec)


def _zsh_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def fish_script(completions: Completions) -> str:
    """Write the script for fish."""
    lines = ["# fish completion of spinney", "complete -c spinney -e"]
    lines += [
        f"complete -c spinney -n __fish_use_subcommand -f -a {name} -d {_fish_quoted(text)}"
        for name, text in completions.commands.items()
    ]
    for name, options in completions.options.items():
        start = f"complete -c spinney -n '__fish_seen_subcommand_from {name}'"
        if completions.values[name]:
            lines.append(f"{start} -f -a {_fish_quoted(' '.join(completions.values[name]))}")
        for option in options:
            flags = " ".join(
                f"-l {text[2:]}" if text.startswith("--") else f"-s {text[1:]}"
                for text in option.names
            )
            value = ""
            if option.choices:
                value = f" -x -a {_fish_quoted(' '.join(option.choices))}"
            elif option.takes_value:
                value = " -r" if option.is_file else " -x"
            lines.append(f"{start} {flags}{value} -d {_fish_quoted(option.help)}")
    return "\n".join(lines)


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
