import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Files in the checkout: the benchmarks run from a directory of their own. */
const inCheckout = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

export const CLI = inCheckout('dist/cli/main.js');
export const PAGE = inCheckout('docs/benchmarks.md');

/** Prints what the figures were measured on. */
export function printMachine(versions: Readonly<Record<string, string>>): void {
  console.log(describeMachine(versions));
}

/** Returns processors, system, load and versions on one line. */
export function describeMachine(versions: Readonly<Record<string, string>>): string {
  const [cpu] = cpus();
  const parts = Object.entries({ node: process.version, ...versions }).map(
    ([name, value]) => `${name} ${value}`,
  );
  const load = (loadavg()[0] ?? 0).toFixed(1);
  const machine = `${cpus().length} x ${cpu?.model ?? 'unknown cpu'}, ${process.platform}, load ${load}`;
  return `${machine}; ${parts.join(', ')}`;
}

/** Prints one figure next to its promised value. */
export function print(what: string, figure: string, promised: string): void {
  console.log(`${what.padEnd(58)} ${figure.padStart(14)}   ${promised}`.trimEnd());
}

/** The middle value; of an even number of them the upper one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
