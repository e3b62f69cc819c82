import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** ESLint takes twice as long as the others together, which run next to it. */
const CHECKS = [
  ['node_modules/typescript/bin/tsc', '--noEmit'],
  ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.dashboard.json'],
  ['node_modules/prettier/bin/prettier.cjs', '--check', '.'],
  ['node_modules/eslint/bin/eslint.js', '.'],
];

const codes = await Promise.all(CHECKS.map(run));
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;

/** Prints what a check writes when it has ended, so that they do not mix. */
async function run(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  process.stdout.write(output);
  return code;
}
