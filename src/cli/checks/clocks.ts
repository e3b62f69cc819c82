import { instantFromMs, instantFromSeconds, secondsBetween } from '../../units/time.js';
import { type ResultBuilder, type CheckResult, onlyValue, type Checked } from './check-result.js';
import type { ClusterContext, SourceContext } from './context.js';
import { readEngine } from './prometheus.js';

/** Minimum difference for a warning. A smaller difference shifts decisions by less than a usual sync period. */
const WARN_SECONDS = 5;
/** Minimum difference for a failure: the age of samples is then wrong by a typical scrape interval or more. */
const FAIL_SECONDS = 30;

/** `spreadSeconds`: the error of the measurement, which is half of the round trip plus the resolution. */
function judgeClockSkew(
  make: ResultBuilder,
  server: string,
  { aheadSeconds, spreadSeconds }: { readonly aheadSeconds: number; readonly spreadSeconds: number },
): CheckResult {
  const apart = Math.max(0, Math.abs(aheadSeconds) - spreadSeconds);
  if (apart < WARN_SECONDS) return make.ok('');
  const words = `the clock of ${server} is ${Math.round(Math.abs(aheadSeconds))} s ${aheadSeconds > 0 ? 'ahead of' : 'behind'} the clock of this machine`;
  const fix =
    'synchronize both machines with a time server (NTP, chrony); `timedatectl` on each machine shows whether its clock is synchronized';
  return apart >= FAIL_SECONDS ? make.failed(words, fix) : make.warning(words, fix);
}

/** The `Date` header has a resolution of 1 s. Another second allows for the time until the response arrives. */
const SPREAD_SECONDS = 2;

/**
 * Compares the `Date` header of the API server with the local clock, because the start times of pods come from the API
 * server.
 */
export function checkClusterClock({ serverDate, make }: Checked<ClusterContext>): CheckResult {
  const seen = serverDate();
  const ms = seen === null ? Number.NaN : Date.parse(seen.text);
  if (seen === null || Number.isNaN(ms)) return make.skipped('the API server sends no valid Date header');
  const aheadSeconds = secondsBetween(seen.at, instantFromMs(ms));
  return judgeClockSkew(make, 'the API server', { aheadSeconds, spreadSeconds: SPREAD_SECONDS });
}

/** Compares `time()` of a data source with the local clock, because the age of samples depends on both. */
export async function checkPrometheusClock(context: Checked<SourceContext>): Promise<CheckResult> {
  const { source, runQuery, clock, make } = context;
  const before = clock.now();
  const startMs = clock.monotonicMs();
  const seconds = onlyValue(await runQuery('time()'));
  const halfRoundTrip = (clock.monotonicMs() - startMs) / 2000;
  if (seconds === null) return make.skipped('the data source does not answer the query time()');
  const [url = ''] = source.urls;
  if (source.flavor !== 'victoriametrics' && (await readEngine(context, url)) === 'victoriametrics')
    return make.skipped(
      'VictoriaMetrics evaluates queries 30 s in the past unless flavor is victoriametrics; see the result of the check `prometheus`',
    );
  const aheadSeconds = secondsBetween(before, instantFromSeconds(seconds)) - halfRoundTrip;
  return judgeClockSkew(make, 'Prometheus', { aheadSeconds, spreadSeconds: halfRoundTrip });
}
