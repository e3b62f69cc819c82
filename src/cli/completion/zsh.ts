import type { CompletedOption, Completion } from './describe-commands.js';

/** The script can be sourced, or installed as `_promscaler` in $fpath. */
export function zshScript({ name, commands }: Completion): string {
  const list = commands.map((command) => `    ${quoted(`${command.name}:${command.description}`)}`);
  const cases = commands.map(({ name: command, options, values }) => {
    const lines = options.map((option) => `        ${optionSpec(option)}`);
    const rest = values.length > 0 ? `'*:value:(${values.join(' ')})'` : "'*:file:_files'";
    return `      ${command})
        _arguments \\
${[...lines, `        ${rest}`].join(' \\\n')} ;;`;
  });
  return `#compdef ${name}
# zsh completion of ${name}. Try: source <(${name} completion zsh)
_${name}() {
  local -a commands
  commands=(
${list.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
  else
    local command="$words[2]"
    shift words
    (( CURRENT -= 1 ))
    case "$command" in
${cases.join('\n')}
    esac
  fi
}
if [ "$funcstack[1]" = _${name} ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

/** Returns an argument of `_arguments`: `'(--output -o)'{--output,-o}'[Output format]:value:(text json)'`. */
function optionSpec({ flags, description, takesValue, values }: CompletedOption): string {
  const text = description.replace(/[[\]:]/g, ' ');
  const value = values.length > 0 ? `:value:(${values.join(' ')})` : ':value:_files';
  const spec = quoted(`[${text}]${takesValue ? value : ''}`);
  return flags.length === 1
    ? `${flags[0] ?? ''}${spec}`
    : `${quoted(`(${flags.join(' ')})`)}{${flags.join(',')}}${spec}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
