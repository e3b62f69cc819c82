import pc from 'picocolors';
import type { CommandIo } from './io.js';

export type Paint = ReturnType<typeof pc.createColors>;

/**
 * Returns functions that color text. A non-empty NO_COLOR, which `--no-color` sets, disables colors, and a non-empty
 * FORCE_COLOR enables them. Without these variables, every terminal but `dumb` has colors. Source:
 * https://no-color.org, https://force-color.org
 */
export function paintOf(io: Pick<CommandIo, 'stdout' | 'env'>): Paint {
  return pc.createColors(hasColors(io));
}

export function hasColors({ stdout, env }: Pick<CommandIo, 'stdout' | 'env'>): boolean {
  const { NO_COLOR: no = '', FORCE_COLOR: force = '' } = env;
  if (no !== '') return false;
  if (force !== '') return force !== '0' && force !== 'false';
  return stdout.isTerminal && env['TERM'] !== 'dumb';
}
