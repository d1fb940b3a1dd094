"""Print a script that completes commands, options and files in your shell.

try:
  source <(spinney completion bash)                    now; or put the line into ~/.bashrc
  spinney completion zsh > ~/.zfunc/_spinney           with ~/.zfunc in fpath
  spinney completion fish > ~/.config/fish/completions/spinney.fish
"""

import argparse

from spinney.cli.voice import Voice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of this command."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="for which shell")


def run(arguments: argparse.Namespace, voice: Voice) -> None:
    """Print the script."""
    from spinney.cli.completing import Completions, bash_script, fish_script, zsh_script
    from spinney.cli.parser import build_parser

    completions = Completions.of(build_parser())
    write = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}[arguments.shell]
    script = write(completions)
    voice.document({"command": "completion", "shell": arguments.shell, "script": script})
    voice.line(script)
