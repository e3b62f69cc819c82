import { readFileSync } from 'node:fs';

/** What the process of the service has noted of itself, each list by time. */
export interface Watched {
  /** Starts of rounds; `ms`: behind the instant they were due. */
  readonly rounds: readonly Noted[];
  /** Ends of cycles, and how long they took. */
  readonly cycles: readonly Noted[];
  /** Ends of queries, and how long they took. */
  readonly queries: readonly Noted[];
  /** Of the event loop, each 20 ms; `ms`: behind the instant it was due. */
  readonly ticks: readonly Tick[];
}

interface Noted {
  /** Wall time, in milliseconds since 1970. */
  readonly atMs: number;
  readonly ms: number;
}

interface Tick extends Noted {
  /** Of the whole process, since its start. */
  readonly cpuMs: number;
  /** How long the main thread has waited for a processor, since its start; null where the system does not tell. */
  readonly waitedMs: number | null;
}

/** Flags for node, with which a process writes what it notes of itself to `file` when it ends. */
export function watchFlags(file: string): readonly string[] {
  const module = new URL('watch-process.js', import.meta.url);
  module.searchParams.set('file', file);
  return ['--import', module.href];
}

/** Of the interval, or NaN where nothing was noted in it. */
export interface WatchFigures {
  /** From the instant a round was due to the end of a cycle of it, the latest one. */
  readonly decisionMs: number;
  /** How long the main thread waited for a processor meanwhile: not the service's own doing. */
  readonly waitedMs: number;
  /** From the instant a round was due to its start. */
  readonly roundMs: number;
  readonly queryMs: number;
  readonly cycles: number;
  readonly loopDelayMs: number;
  readonly cpuMs: number;
  /** Of the main thread for a processor, in all. */
  readonly allWaitedMs: number;
}

/** Reads what `watchFlags` has had written. */
export function readWatched(file: string): Watched {
  return JSON.parse(readFileSync(file, 'utf8')) as Watched;
}

/** What happened within an interval of wall time. */
export function figuresOf(
  watched: Watched,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): WatchFigures {
  const within = <T extends Noted>(list: readonly T[]): readonly T[] =>
    list.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  const rounds = within(watched.rounds);
  const ticks = within(watched.ticks);
  const cycles = within(watched.cycles);
  const decisions = cycles.flatMap(({ atMs }) => {
    const round = rounds.findLast((started) => started.atMs <= atMs);
    return round === undefined ? [] : [{ dueMs: round.atMs - round.ms, endMs: atMs }];
  });
  const latest = decisions.toSorted((a, b) => b.endMs - b.dueMs - (a.endMs - a.dueMs))[0];
  return {
    decisionMs: latest === undefined ? Number.NaN : latest.endMs - latest.dueMs,
    waitedMs: latest === undefined ? Number.NaN : waitedBetween(watched.ticks, latest.dueMs, latest.endMs),
    roundMs: longest(rounds),
    queryMs: longest(within(watched.queries)),
    cycles: decisions.length,
    loopDelayMs: longest(ticks),
    cpuMs: (ticks.at(-1)?.cpuMs ?? Number.NaN) - (ticks.at(0)?.cpuMs ?? Number.NaN),
    allWaitedMs: waitedBetween(watched.ticks, fromMs, toMs),
  };
}

function longest(list: readonly Noted[]): number {
  return list.length === 0 ? Number.NaN : Math.max(...list.map(({ ms }) => ms));
}

/** From the last tick before an instant to the first one at or behind another. */
function waitedBetween(ticks: readonly Tick[], fromMs: number, toMs: number): number {
  const first = ticks.findLast(({ atMs }) => atMs <= fromMs) ?? ticks.at(0);
  const last = ticks.find(({ atMs }) => atMs >= toMs) ?? ticks.at(-1);
  return (last?.waitedMs ?? Number.NaN) - (first?.waitedMs ?? Number.NaN);
}
