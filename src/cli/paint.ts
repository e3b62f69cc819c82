import pc from 'picocolors';
import type { CommandIo } from './io.js';

/** Colors for standard output, or functions that leave a string as it is. */
export type Paint = ReturnType<typeof pc.createColors>;

/**
 * The colors that this output takes. NO_COLOR (which `--no-color` sets) switches them off, FORCE_COLOR on, if they are
 * not empty; else a terminal has them that is not dumb. Source: https://no-color.org, https://force-color.org
 */
export function paintOf(io: Pick<CommandIo, 'stdout' | 'env'>): Paint {
  return pc.createColors(hasColors(io));
}

/** Whether this output takes colors. */
export function hasColors({ stdout, env }: Pick<CommandIo, 'stdout' | 'env'>): boolean {
  const { NO_COLOR: no = '', FORCE_COLOR: force = '' } = env;
  if (no !== '') return false;
  if (force !== '') return force !== '0' && force !== 'false';
  return stdout.isTerminal && env['TERM'] !== 'dumb';
}
