import { type CommandIo, type ExitCode, usageError } from '../output/io.js';

const FISH_SCRIPT = `# fish completion of promscaler. Try: promscaler completion fish | source
function __promscaler_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
  set -l values (string match -v -r '^:' -- $lines)
  if test (count $values) -gt 0
    printf '%s\\n' $values
  else if contains -- :0 $lines
    __fish_complete_path "$current"
  end
end
complete -c promscaler -f -a '(__promscaler_complete)'
`;

/** The script can be sourced, or installed as the file `_promscaler` in a directory of $fpath. */
const ZSH_SCRIPT = `#compdef promscaler
# zsh completion of promscaler. Try: source <(promscaler completion zsh)
_promscaler() {
  local line value text directive=:0
  local -a values
  while IFS= read -r line; do
    case "$line" in
      :*) directive="$line" ;;
      *)
        value="\${line%%$'\\t'*}"
        text="\${line#*$'\\t'}"
        # A colon in the value would begin the description.
        if [ "$text" = "$line" ]; then values+=("\${value//:/\\\\:}"); else values+=("\${value//:/\\\\:}:$text"); fi
        ;;
    esac
  done < <("$words[1]" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#values > 0 )); then
    _describe value values
  elif [ "$directive" = :0 ]; then
    _files
  fi
}
if [ "$funcstack[1]" = _promscaler ]; then _promscaler "$@"; else compdef _promscaler promscaler; fi
`;

/** Works with bash 3.2 and newer, without the package bash-completion. */
const BASH_SCRIPT = `# bash completion of promscaler. Try: source <(promscaler completion bash)
_promscaler() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      # No file names either. Bash 3.2 has no compopt.
      :4) compopt +o default 2>/dev/null ;;
      :*) ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _promscaler promscaler
`;

const SCRIPTS: ReadonlyMap<string, string> = new Map([
  ['bash', BASH_SCRIPT],
  ['zsh', ZSH_SCRIPT],
  ['fish', FISH_SCRIPT],
]);

/** Runs `completion`: prints the script for a shell. The script calls `promscaler __complete`, see `runComplete`. */
export function runCompletion(shell: string, io: CommandIo): ExitCode {
  const script = SCRIPTS.get(shell);
  if (script === undefined)
    throw usageError(`shell ${shell} is not supported; it must be one of ${[...SCRIPTS.keys()].join(', ')}`);
  io.stdout.write(script);
  return 0;
}
