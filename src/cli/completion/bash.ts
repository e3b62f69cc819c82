import type { Completion } from './describe-commands.js';

/** Works with bash 3.2 and newer, without the package bash-completion. */
export function bashScript({ name, commands }: Completion): string {
  const cases = commands.map(({ name: command, options, values }) => {
    const flags = options.flatMap((option) => option.flags);
    const ofValues = options
      .filter(({ takesValue }) => takesValue)
      .map(
        (option) => `        ${option.flags.join('|')}) values="${option.values.join(' ')}"; isValue=1 ;;`,
      );
    return `    ${command})
      words="${flags.join(' ')}"
      arguments="${values.join(' ')}"
      case "$previous" in
${ofValues.join('\n')}
      esac ;;`;
  });
  return `# bash completion of ${name}. Try: source <(${name} completion bash)
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local command="" word words="" arguments="" values="" isValue=""
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      -*) ;;
      *) command="$word"; break ;;
    esac
  done
  case "$command" in
${cases.join('\n')}
    help|"") words="${commands.map((command) => command.name).join(' ')} help" ;;
  esac
  # -o default completes files if there is no suggestion.
  if [ -z "$isValue" ]; then
    case "$command/$current" in
      */-*|help/*|/*) values="$words" ;;
      *) values="$arguments" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$values" -- "$current"))
}
complete -o default -F _${name} ${name}
`;
}
