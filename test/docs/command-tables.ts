import { cli } from '../../src/cli/program.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { code, markdownTable } from './markdown.js';

/** Returns the usage line, arguments and options of each command, by the name of its block: `command: run`. */
export async function commandTables(): Promise<Readonly<Record<string, string>>> {
  const commands = rowsOf(await helpOf([]), 'Commands').map(([usage]) => usage.split(' ')[0] ?? '');
  const own = commands.filter((name) => name !== 'help');
  const blocks = await Promise.all(
    own.map(async (name) => [`command: ${name}`, commandBlock(await helpOf([name]))] as const),
  );
  return { ...Object.fromEntries(blocks), commands: await commandList(own) };
}

async function commandList(names: readonly string[]): Promise<string> {
  const rows = await Promise.all(
    names.map(async (name) => [`[${code(`promscaler ${name}`)}](#${name})`, summaryOf(await helpOf([name]))]),
  );
  return markdownTable(['command', 'summary'], rows);
}

function commandBlock(help: string): string {
  const usage = /^Usage: (.*)$/m.exec(help)?.[1] ?? '';
  const taken = [...rowsOf(help, 'Arguments'), ...rowsOf(help, 'Options')];
  const rows = taken
    .filter(([name]) => !name.startsWith('-h, '))
    .map(([name, description]) => [code(name), description]);
  const table = rows.length === 0 ? [] : ['', markdownTable(['argument or option', 'description'], rows)];
  return ['```text', usage, '```', ...table].join('\n');
}

/** The paragraph below the usage line. */
function summaryOf(help: string): string {
  return (help.split('\n\n')[1] ?? '').replaceAll('\n', ' ');
}

/** The entries of one section of a help text; a description that is wrapped is joined again. */
function rowsOf(help: string, section: string): readonly (readonly [name: string, description: string])[] {
  const body = help.split(`\n${section}:\n`)[1]?.split('\n\n')[0] ?? '';
  const rows: [string, string][] = [];
  for (const line of body.split('\n')) {
    const [, name, description = ''] = /^ {2}(\S.*?)(?: {2,}(.*))?$/.exec(line) ?? [];
    const last = rows.at(-1);
    if (name !== undefined) rows.push([name, description]);
    else if (last !== undefined) last[1] = `${last[1]} ${line.trim()}`.trim();
  }
  return rows;
}

async function helpOf(command: readonly string[]): Promise<string> {
  let stdout = '';
  await cli([...command, '--help'], {
    stdout: {
      isTerminal: false,
      rows: () => undefined,
      columns: () => undefined,
      write: (text) => void (stdout += text),
    },
    stderr: { isTerminal: false, write: () => undefined },
    readStdin: () => Promise.resolve(''),
    env: {},
    cwd: '/',
    clock: SYSTEM_CLOCK,
    signal: new AbortController().signal,
    command: 'promscaler',
  });
  return stdout;
}
