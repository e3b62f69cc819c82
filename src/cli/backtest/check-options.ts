import { resolve } from 'node:path';
import { CommandError } from '../process/io.js';
import type { BacktestOptions } from './backtest-options.js';

type Option = keyof BacktestOptions;

/** Option -> options that have no effect if it is set. */
const EXCLUDED: readonly (readonly [Option, readonly Option[], string])[] = [
  [
    'replay',
    [
      'scaler',
      'trace',
      'prometheus',
      'from',
      'to',
      'step',
      'history',
      'saveHistory',
      'capacity',
      'start',
      'against',
      'sweep',
      'recommend',
      'podStart',
      'initialReplicas',
      'request',
      'price',
      'config',
      'failIf',
      'html',
    ],
    'decides again on recorded snapshots, without a load',
  ],
  ['trace', ['prometheus', 'from', 'history'], 'is the source of load'],
  ['trace', ['to', 'step', 'saveHistory', 'request'], 'has no history'],
  ['history', ['prometheus', 'from', 'to', 'step', 'saveHistory'], 'has its own times'],
  ['history', ['start'], 'has its own times'],
  ['prometheus', ['start'], 'takes the time from --from'],
  ['from', ['start'], 'is the start of the history'],
  ['recommend', ['against', 'sweep'], 'is about one document'],
  ['recommend', ['failIf'], 'has its own condition'],
];

/** Throws `CommandError` for contradicting options, because one of them would be ignored. */
export function checkOptions(options: BacktestOptions): void {
  for (const [option, others, why] of EXCLUDED) {
    if (options[option] === undefined) continue;
    const found = others.filter((other) => options[other] !== undefined);
    if (found.length > 0)
      throw new CommandError(`${flagOf(option)} ${why}: remove ${found.map(flagOf).join(', ')}`, 2);
  }
}

/** Throws `CommandError` if a file to write is also read, or written twice. */
export function checkFiles(options: BacktestOptions, cwd: string): void {
  const { scaler, against = [], trace, history, config, html, saveHistory } = options;
  const documents = [scaler, ...against].map((file) => file?.split('#', 1)[0]);
  const read = [...documents, trace, history, config].flatMap((file) => (file === undefined ? [] : [file]));
  const written = [
    ['--html', html],
    ['--save-history', saveHistory],
  ] as const;
  const known = new Map(read.map((file) => [resolve(cwd, file), 'read']));
  for (const [flag, file] of written) {
    if (file === undefined) continue;
    const path = resolve(cwd, file);
    const other = known.get(path);
    if (other !== undefined)
      throw new CommandError(
        `${flag}: ${file} is also ${other}, and would be overwritten: choose another file`,
        2,
      );
    known.set(path, 'the file of --html');
  }
}

function flagOf(option: Option): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
