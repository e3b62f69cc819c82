import { engineOfBuild } from '../../prometheus/client/engine.js';
import { secondsBetween, instantFromSeconds } from '../../units/time.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { REQUEST_MS, type SourceContext, sourceSubject } from './context.js';
import { onlyValue } from './read-answer.js';
import { judgeClockSkew } from './clock-skew.js';
import { withoutTrailingSlashes } from '../../units/base-url.js';

/** Compares `time()` of a data source with the local clock, because the age of samples depends on both. */
export async function checkPrometheusClock(context: SourceContext): Promise<readonly CheckResult[]> {
  const { source, runQuery, clock } = context;
  const make = resultsOf('prometheus-clock', sourceSubject(source));
  const before = clock.now();
  const startMs = clock.monotonicMs();
  const seconds = onlyValue(await runQuery('time()'));
  const halfRoundTrip = (clock.monotonicMs() - startMs) / 2000;
  if (seconds === null) return [make.skipped('the data source does not answer the query time()')];
  if (source.flavor !== 'victoriametrics' && (await isVictoriaMetrics(context)))
    return [
      make.skipped(
        'VictoriaMetrics evaluates queries 30 s in the past unless flavor is victoriametrics: see the check prometheus',
      ),
    ];
  const aheadSeconds = secondsBetween(before, instantFromSeconds(seconds)) - halfRoundTrip;
  return [judgeClockSkew(make, 'Prometheus', { aheadSeconds, spreadSeconds: halfRoundTrip })];
}

async function isVictoriaMetrics({ source, probe, signal }: SourceContext): Promise<boolean> {
  const [url = ''] = source.urls;
  const page = `${withoutTrailingSlashes(url)}/api/v1/status/buildinfo`;
  return engineOfBuild(await probe({ url: page, timeoutMs: REQUEST_MS, signal })) === 'victoriametrics';
}
