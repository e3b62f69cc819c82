import { engineOfBuild } from '../../../prometheus/engine.js';
import { secondsBetween, instantFromSeconds } from '../../../units/time.js';
import { type Finding, findingsOf } from '../finding.js';
import { REQUEST_MS, type SourceInquiry, onlyValue, sourceSubject } from '../inquiry.js';
import { judgeClock } from './clock-apart.js';
import { withoutTrailingSlashes } from '../../../units/base-url.js';

/** How far the clock of a data source is from ours: pods are judged by ours, samples are as old as its says. */
export async function checkPrometheusClock(inquiry: SourceInquiry): Promise<readonly Finding[]> {
  const { source, ask, clock } = inquiry;
  const make = findingsOf('prometheus-clock', sourceSubject(source));
  const before = clock.now();
  const startMs = clock.monotonicMs();
  const seconds = onlyValue(await ask('time()'));
  const halfWay = (clock.monotonicMs() - startMs) / 2000;
  if (seconds === null) return [make.skipped('it does not answer "time()"')];
  if (source.flavor !== 'victoriametrics' && (await isVictoriaMetrics(inquiry)))
    return [
      make.skipped('a VictoriaMetrics that is asked as another server answers for 30 s ago: see prometheus'),
    ];
  const aheadSeconds = secondsBetween(before, instantFromSeconds(seconds)) - halfWay;
  return [judgeClock(make, 'Prometheus', { aheadSeconds, spreadSeconds: halfWay })];
}

async function isVictoriaMetrics({ source, probe, signal }: SourceInquiry): Promise<boolean> {
  const [url = ''] = source.urls;
  const page = `${withoutTrailingSlashes(url)}/api/v1/status/buildinfo`;
  return engineOfBuild(await probe({ url: page, timeoutMs: REQUEST_MS, signal })) === 'victoriametrics';
}
