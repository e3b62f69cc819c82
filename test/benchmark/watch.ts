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
  /** The same without the time in which the main thread waited for a processor, which others had. */
  readonly ownDecisionMs: number;
  /** From the instant a round was due to its start. */
  readonly roundMs: number;
  readonly queryMs: number;
  readonly cycles: number;
  /** From the instant a timer was due to its call, and without the wait for a processor. */
  readonly loopDelayMs: number;
  readonly ownLoopDelayMs: number;
  readonly cpuMs: number;
  /** Of the main thread for a processor. */
  readonly waitedMs: number;
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

/** Between two instants, as far as the ticks tell: they come later when the process waits. */
function waitedBetween(ticks: readonly Tick[], fromMs: number, toMs: number): number {
  return waitedUntil(ticks, toMs) - waitedUntil(ticks, fromMs);
}

/** Linear between two ticks. */
function waitedUntil(ticks: readonly Tick[], atMs: number): number {
  const index = ticks.findIndex((tick) => tick.atMs >= atMs);
  const [before, after] = [ticks.at(Math.max(0, index - 1)), ticks.at(index)];
  if (before?.waitedMs == null || after?.waitedMs == null) return Number.NaN;
  const part = after === before ? 0 : (atMs - before.atMs) / (after.atMs - before.atMs);
  return before.waitedMs + Math.min(1, part) * (after.waitedMs - before.waitedMs);
}
