import { readFileSync } from 'node:fs';

/** Values that the process of the service has recorded, each list by time. */
export interface Watched {
  /** Starts of rounds; `ms`: after the instant they were due. */
  readonly rounds: readonly Noted[];
  /** Ends of cycles, and their durations. */
  readonly cycles: readonly Noted[];
  /** Ends of queries, and their durations. */
  readonly queries: readonly Noted[];
  /** Delays of the event loop, every 20 ms; `ms`: after the instant it was due. */
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
  /** How long the main thread has waited for a processor, since its start; null if the system does not report it. */
  readonly waitedMs: number | null;
}

/** Returns flags for node, with which a process writes its recorded values to `file` when it ends. */
export function watchFlags(file: string): readonly string[] {
  const module = new URL('watch-process.js', import.meta.url);
  module.searchParams.set('file', file);
  return ['--import', module.href];
}

/** Figures of an interval, or NaN if nothing was recorded in it. */
export interface WatchFigures {
  /** From the due time of a round to the end of its last cycle. */
  readonly decisionMs: number;
  /** The same without the time in which the main thread waited for a processor. */
  readonly ownDecisionMs: number;
  /** From the due time of a round to its start. */
  readonly roundMs: number;
  readonly queryMs: number;
  readonly cycles: number;
  /** From the due time of a timer to its call, without the wait for a processor. */
  readonly loopDelayMs: number;
  readonly ownLoopDelayMs: number;
  readonly cpuMs: number;
  /** Wait of the main thread for a processor. */
  readonly waitedMs: number;
}

/** Reads the file of `watchFlags`. */
export function readWatched(file: string): Watched {
  return JSON.parse(readFileSync(file, 'utf8')) as Watched;
}

/** Returns the figures within an interval of wall time. */
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
  const waited = (from: number, to: number): number => waitedBetween(watched.ticks, from, to);
  return {
    decisionMs: largest(decisions.map(({ dueMs, endMs }) => endMs - dueMs)),
    ownDecisionMs: largest(decisions.map(({ dueMs, endMs }) => endMs - dueMs - waited(dueMs, endMs))),
    roundMs: longest(rounds),
    queryMs: longest(within(watched.queries)),
    cycles: decisions.length,
    loopDelayMs: longest(ticks),
    ownLoopDelayMs: largest(ticks.map(({ atMs, ms }) => ms - waited(atMs - ms, atMs))),
    cpuMs: (ticks.at(-1)?.cpuMs ?? Number.NaN) - (ticks.at(0)?.cpuMs ?? Number.NaN),
    waitedMs: waited(fromMs, toMs),
  };
}

function longest(list: readonly Noted[]): number {
  return largest(list.map(({ ms }) => ms));
}

function largest(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : Math.max(...values);
}

/** Returns the wait between two instants, estimated from the ticks, which are late when the process waits. */
function waitedBetween(ticks: readonly Tick[], fromMs: number, toMs: number): number {
  return waitedUntil(ticks, toMs) - waitedUntil(ticks, fromMs);
}

/** Interpolates linearly between two ticks. */
function waitedUntil(ticks: readonly Tick[], atMs: number): number {
  const index = ticks.findIndex((tick) => tick.atMs >= atMs);
  const [before, after] = [ticks.at(Math.max(0, index - 1)), ticks.at(index)];
  if (before?.waitedMs == null || after?.waitedMs == null) return Number.NaN;
  const part = after === before ? 0 : (atMs - before.atMs) / (after.atMs - before.atMs);
  return before.waitedMs + Math.min(1, part) * (after.waitedMs - before.waitedMs);
}
