import type { CompletedOption, Completion } from './describe-commands.js';

export function fishScript({ name, commands }: Completion): string {
  const lines = commands.flatMap(({ name: command, description, options, values }) => {
    const when = `-n ${quoted(`__fish_seen_subcommand_from ${command}`)}`;
    return [
      `complete -c ${name} -n __fish_use_subcommand -f -a ${command} -d ${quoted(description)}`,
      ...options.map((option) => `complete -c ${name} ${when} ${optionFlags(option)}`),
      ...(values.length === 0 ? [] : [`complete -c ${name} ${when} -f -a ${quoted(values.join(' '))}`]),
    ];
  });
  return `# fish completion of ${name}. Try: ${name} completion fish | source\n${lines.join('\n')}\n`;
}

function optionFlags({ flags, description, takesValue, values }: CompletedOption): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const value = values.length > 0 ? `-x -a ${quoted(values.join(' '))}` : '-r';
  return [...names, ...(takesValue ? [value] : []), `-d ${quoted(description)}`].join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
