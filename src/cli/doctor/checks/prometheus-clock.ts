import { secondsBetween, instantFromSeconds } from '../../../units/time.js';
import { type Finding, findingsOf } from '../finding.js';
import { type SourceInquiry, onlyValue, sourceSubject } from '../inquiry.js';
import { judgeClock } from './clock-apart.js';

/** How far the clock of a data source is from ours: pods are judged by ours, samples are as old as its says. */
export async function checkPrometheusClock(inquiry: SourceInquiry): Promise<readonly Finding[]> {
  const { source, ask, clock } = inquiry;
  const make = findingsOf('prometheus-clock', sourceSubject(source));
  const before = clock.now();
  const startMs = clock.monotonicMs();
  const seconds = onlyValue(await ask('time()'));
  const halfWay = (clock.monotonicMs() - startMs) / 2000;
  if (seconds === null) return [make.skipped('it does not answer "time()"')];
  const aheadSeconds = secondsBetween(before, instantFromSeconds(seconds)) - halfWay;
  return [judgeClock(make, 'Prometheus', { aheadSeconds, spreadSeconds: halfWay })];
}
