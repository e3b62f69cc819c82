import { type Finding, finding, formatPath, type IsBroken } from '../problems/finding.js';
import type { Loose, SpecInput } from '../schema/document-schema.js';
import { checkAmountQuery } from './query-rules.js';

/** Checks that saturation steps are only set for cpu, and that the document has a pod start time. */
export function checkSaturation(
  { metrics = [], podStart }: Loose<SpecInput>,
  isBroken: IsBroken,
  isMetricsql: boolean,
): readonly Finding[] {
  return metrics.flatMap((metric, index): readonly Finding[] => {
    const { name, saturation } = metric?.resource ?? {};
    if (saturation === undefined) return [];
    const path = ['spec', 'metrics', index, 'resource', 'saturation'];
    const queryPath = [...path, 'served', 'query'];
    const shown = formatPath(path);
    const findings = checkAmountQuery(saturation.served?.query, queryPath, { hasObject: false, isMetricsql });
    if (name === 'memory') {
      const message = `${shown} is for cpu: a pod at its memory limit is killed, so that usage does not hide load`;
      return [...findings, { ...finding('contradicting-type', path, message), at: 'key' }];
    }
    if (podStart !== undefined || isBroken(['spec', 'podStart'])) return findings;
    const message = `spec.podStart is missing: ${shown} scales up once usage has been at the limits for half of it. Write podStart: {} to learn it from the pods`;
    return [...findings, finding('missing-field', ['spec', 'podStart'], message)];
  });
}
