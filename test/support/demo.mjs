import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** Runs `npm run demo`: prints the help, which needs no build, or compiles what has changed and starts the demo. */
const args = process.argv.slice(2);
if (args.some((word) => word === '--help' || word === '-h')) process.stdout.write(readHelp());
else {
  process.stderr.write('Compiling what has changed ...\n');
  const build = "import('./test/support/build.mjs').then(({ buildPrograms }) => buildPrograms(['dist']))";
  const { status } = spawnSync(process.execPath, ['-e', build], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status === 0) {
    const main = resolve('dist/cli/main.js');
    process.argv = [process.execPath, main, 'demo', ...args];
    await import(main);
  } else process.exitCode = status ?? 1;
}

/** The reference has the text of `promscaler demo --help`; `npm run docs` keeps it up to date. */
function readHelp() {
  const [, block = ''] = /<!-- generated: command: demo -->\n(.*?)\n<!-- end -->/s.exec(
    readFileSync('docs/reference/cli.md', 'utf8'),
  ) ?? [''];
  const rows = [...block.matchAll(/^\| `(--[^`]+)` \| (.*) \|$/gm)];
  const width = Math.max(...rows.map(([, flags = '']) => flags.length));
  const lines = rows.flatMap(([, flags = '', text = '']) =>
    wrap(text, 76 - width).map((line, index) => `  ${(index === 0 ? flags : '').padEnd(width)}  ${line}`),
  );
  return `Usage: npm run demo -- [options]\n\nRun the service with a simulated cluster and a real Prometheus\n\nOptions:\n${lines.join('\n')}\n`;
}

function wrap(text, width) {
  return text.split(' ').reduce((lines, word) => {
    const last = lines.at(-1);
    return last !== undefined && last.length + 1 + word.length <= width
      ? [...lines.slice(0, -1), `${last} ${word}`]
      : [...lines, word];
  }, []);
}
