import type { RangeAnswer } from '../../src/prometheus/answers/classify.js';
import type { RangeQuery } from '../../src/prometheus/client/range-client.js';
import type { Product } from './product.js';
import { NAMESPACE } from './simulation/scenario.js';

export const MINUTE_MS = 60_000;
/** Documents of hostile namespaces have no forecast. */
const OWN_SPEC = `"namespace":"${NAMESPACE}"},"spec":{`;
const FORECAST = { mode: 'Raise', lead: '120s', budgetPercent: 100 };

/** Answers a range query, after a delay. */
export interface HistoryFault {
  readonly delayMs?: number;
  readonly answer: (range: RangeQuery) => RangeAnswer;
}

export interface Forecasts {
  asked: number;
  used: number;
}

/** The service whose documents all have a forecast, with the histories of `source`. */
export function withForecasts(
  product: Product,
  { delayMs = 50, answer }: HistoryFault,
  seen: Forecasts,
): Product {
  return {
    ...product,
    readDocuments: (text, ...rest) =>
      product.readDocuments(
        text.replaceAll(OWN_SPEC, `${OWN_SPEC}"forecast":${JSON.stringify(FORECAST)},`),
        ...rest,
      ),
    createService: (options) =>
      product.createService({
        ...options,
        createRangeClient: () => ({
          queryRange: async (range, { timeoutMs, signal }) => {
            seen.asked += 1;
            await product.sleep(options.clock, Math.min(delayMs, timeoutMs), signal);
            return delayMs < timeoutMs
              ? answer(range)
              : { class: 'failed', reason: 'timeout', message: 'timeout after 10 s' };
          },
        }),
        onCycle: (output) => {
          if (output.record.decision?.forecast?.isUsed === true) seen.used += 1;
          options.onCycle?.(output);
        },
      }),
  };
}

const matrix = ({ start, end, stepSeconds }: RangeQuery, load: (minute: number) => number): RangeAnswer => {
  const points: [number, number][] = [];
  for (let at: number = start; at <= end; at += stepSeconds * 1000)
    points.push([at, load((at / MINUTE_MS) % 1440)]);
  return { class: 'matrix', series: [{ labels: { promscaler_target: 'yes' }, points }] };
};

/** Each half hour, the load is higher by half for five minutes. */
export const RISING: HistoryFault = {
  answer: (range) => matrix(range, (minute) => (minute % 30 < 25 ? 100 : 150)),
};

/** What the range queries of a simulation are answered with. */
export const HISTORY_FAULTS: Readonly<Record<string, HistoryFault>> = {
  away: { answer: () => ({ class: 'failed', reason: 'connection', message: 'connection refused' }) },
  'never answered': { ...RISING, delayMs: 60_000 },
  NaN: { answer: (range) => matrix(range, () => NaN) },
  '1e300': { answer: (range) => matrix(range, () => 1e300) },
};

const OF_SEEDS: readonly HistoryFault[] = [
  RISING,
  { ...RISING, delayMs: 9000 },
  { answer: (range) => matrix(range, (minute) => (minute % 30 < 25 ? 1 : 1e14)) },
  ...Object.values(HISTORY_FAULTS),
];

/** Returns the answers of a seed: those of healthy, slow, wrong and huge histories, and of none. */
export function historyOfSeed(seed: number): HistoryFault {
  return OF_SEEDS[seed % OF_SEEDS.length] ?? RISING;
}

/** Four documents have eight parts and one for the highest load, which each hour and each process reads again. */
export function mostQueries(hours: number, processes: number): number {
  return 4 * 9 * (Math.ceil(hours) + 1 + processes);
}
