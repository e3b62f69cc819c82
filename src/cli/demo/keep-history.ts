import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { BacktestError } from '../../backtest/compare/variant.js';
import type { Range } from '../../backtest/history/fetch-series.js';
import { readHistory } from '../../backtest/history/read-history.js';
import { resolveServiceConfig, type ServiceConfig } from '../../config/resolve-service-config.js';
import { cacheDirectory } from '../../files/cache-directory.js';
import { readBoundedText } from '../../files/read-bounded.js';
import { readDocuments } from '../../scaler/read/read-scalers.js';
import type { Scaler } from '../../scaler/spec.js';
import type { KubeObject } from '../../simulator/objects/kube-object.js';
import type { Simulator } from '../../simulator/simulator.js';
import { withDeadline } from '../../units/clock.js';
import { type Instant, secondsBetween } from '../../units/time.js';
import { type HistorySources, openServers } from '../backtest/open-history.js';
import { writeHistory } from '../backtest/saved-answers.js';
import { openOutputFile } from '../output/output-file.js';
import type { CommandIo } from '../output/io.js';
import { RATE_SECONDS, SCRAPE_SECONDS } from './documents.js';
import type { DemoSettings } from './options.js';
import { DAY_SECONDS } from './workloads.js';

/** Files that a demo saves so that `backtest` can read them. */
interface KeptHistory {
  readonly historyFile: string;
  /** Maps the name of a scaler to the file with its document. */
  readonly documents: ReadonlyMap<string, string>;
}

/** Returns the directory for the recorded history; null if the user has no cache directory. */
export function keptDirectory({ env }: Pick<CommandIo, 'env'>): string | null {
  const cache = cacheDirectory(env);
  return cache === null ? null : join(cache, 'demo');
}

const MOST_MS = 10_000;
/** A history with fewer steps is not saved, because a back-test would show nothing. */
const FEWEST_STEPS = 20;

/**
 * Reads the history since `start` from Prometheus, and writes it to a directory together with the documents. Returns
 * null if the history is too short. Throws `Error` if reading or writing fails.
 */
export async function keepHistory(
  recorded: {
    readonly prometheusUrl: string;
    readonly start: Instant;
    readonly documents: readonly string[];
    readonly directory: string;
  },
  io: CommandIo,
): Promise<KeptHistory | null> {
  const { prometheusUrl, start, documents, directory } = recorded;
  const range = { start, end: io.clock.now(), stepSeconds: SCRAPE_SECONDS, warmUpSeconds: 0 };
  if (secondsBetween(start, range.end) < FEWEST_STEPS * SCRAPE_SECONDS) return null;
  return withDeadline(io.clock, { ms: MOST_MS }, async (signal) => {
    const sources = await openServers(
      sourcesOf(prometheusUrl),
      { names: ['default'], hasCache: false, isSaved: true },
      quiet(io, signal),
    );
    const texts = new Map<string, string>();
    for (const text of documents)
      for (const scaler of scalersIn(text))
        if (await hasHistory(scaler, range, sources)) texts.set(scaler.name, text);
    if (texts.size === 0) return null;
    await mkdir(directory, { recursive: true });
    const historyFile = join(directory, 'history.json');
    await writeHistory(await openOutputFile('--keep', historyFile, directory), sources.saved(range));
    for (const [name, text] of texts) await writeFile(documentFile(directory, name), text);
    const files = [...texts.keys()].map((name) => [name, documentFile(directory, name)] as const);
    return { historyFile, documents: new Map(files) };
  });
}

function documentFile(directory: string, name: string): string {
  return join(directory, `${name}.yaml`);
}

function sourcesOf(url: string): ServiceConfig['prometheus'] {
  const source = { urls: [url], scrapeIntervalSeconds: SCRAPE_SECONDS, resourceWindowSeconds: RATE_SECONDS };
  return resolveServiceConfig({ prometheus: { default: source } }, null).prometheus;
}

/**
 * Returns `io` with another signal and without progress. The signal of the command is already aborted when Ctrl-C has
 * ended the demo.
 */
function quiet(io: CommandIo, signal: AbortSignal): CommandIo {
  return { ...io, signal, stderr: { ...io.stderr, isTerminal: false } };
}

/** Returns whether there is history for a scaler. There is none, for example, if its document was edited. */
async function hasHistory(scaler: Scaler, range: Range, { byName }: HistorySources): Promise<boolean> {
  const settings = { range, request: null, capacity: null, usageAtCapacityPercent: 100, sources: byName };
  try {
    await readHistory([scaler], settings);
    return true;
  } catch (error) {
    if (error instanceof BacktestError) return false;
    throw error;
  }
}

/** Returns the current documents: objects of the cluster, and files. */
export async function currentDocuments(
  simulator: Simulator,
  namespace: string,
  directory: string,
): Promise<readonly string[]> {
  const objects = simulator.listObjects('promscaler.dev/scalers', namespace).map(documentOf);
  const names = (await readdir(directory)).filter((name) => name.endsWith('.yaml'));
  const files = names.map((name) => readBoundedText(join(directory, name), { mostBytes: MOST_BYTES }));
  return [...objects, ...(await Promise.all(files))];
}

const MOST_BYTES = 1024 * 1024;

function scalersIn(text: string): readonly Scaler[] {
  return readDocuments(text, 'demo', {}).flatMap(({ scaler }) => (scaler === null ? [] : [scaler]));
}

/** Returns the document of a Scaler object, without the fields that the API server adds. */
function documentOf({ apiVersion, kind, metadata, spec }: KubeObject): string {
  const { name, namespace } = metadata;
  return stringify({ apiVersion, kind, metadata: { name, namespace }, spec });
}

/** The highest `--speed` at which pods start fast enough for the load. */
export const MOST_SPEED = 5;

/**
 * Returns the length of the shortest history that is worth a back-test: most of a day of the load. A demo that runs for
 * a whole day has a little less, because the load starts after the service.
 */
export function fewestSeconds(speed: number): number {
  return (0.9 * DAY_SECONDS) / speed;
}

/** Returns why a back-test of `seconds` of the built-in load would say little; null: it is worth it. */
export function whyNoBacktest(
  seconds: number,
  { speed, traceFile }: Pick<DemoSettings, 'speed' | 'traceFile'>,
): string | null {
  if (traceFile !== null) return null;
  if (speed > MOST_SPEED)
    return `A back-test says little at --speed ${speed}, because the load changes faster than pods start. Run the demo at --speed ${MOST_SPEED} for at least ${DAY_SECONDS / MOST_SPEED} s.`;
  if (seconds >= fewestSeconds(speed)) return null;
  return `A back-test says little before the load has had a whole day. At --speed ${speed}, run the demo for at least ${Math.ceil(DAY_SECONDS / speed)} s.`;
}

/** Returns commands with which the user can back-test the demo. */
export function offer({ historyFile, documents }: KeptHistory, command: string): string {
  const checkout = documents.get('checkout');
  const [file] = checkout === undefined ? documents.values() : [checkout];
  if (file === undefined) return '';
  const backtest = `${command} backtest --history ${historyFile} --scaler ${file}`;
  const field = checkout === undefined ? 'maxReplicas=5,10,20' : 'averageUtilization=50,70,80';
  return `
What would other settings have done? The history of this demo is kept until the next demo. Back-test it:
  ${backtest}
  ${backtest} --sweep ${field}
`;
}
