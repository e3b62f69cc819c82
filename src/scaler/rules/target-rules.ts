import { parseQuantity } from '../../units/quantity.js';
import { type Finding, type Path, finding, formatPath, formatValue } from '../problems/finding.js';
import type { Loose, MetricInput } from '../schema/document-schema.js';

/** The smallest plausible memory target per pod: 1 MiB, in thousandths of a byte. */
const LEAST_MEMORY = 1_048_576_000n;

/** The largest plausible CPU target per pod: 256 cores, in millicores. */
const MOST_CPU = 256_000n;

const DIGITS = /^\d+(?:\.\d+)?/;

/**
 * Warns about a memory target that was probably meant in megabytes, such as `500m` (half a byte), and about a CPU
 * target that was probably meant in millicores.
 */
export function checkTargetUnit(metric: Loose<MetricInput>, path: Path): readonly Finding[] {
  const member = metric.resource === undefined ? 'containerResource' : 'resource';
  const body = metric.resource ?? metric.containerResource;
  const written = body?.target?.averageValue ?? body?.targetAverageValue;
  const milli = written === undefined ? null : parseQuantity(written);
  if (written === undefined || milli === null || milli <= 0n) return [];
  const field =
    body?.target?.averageValue === undefined ? ['targetAverageValue'] : ['target', 'averageValue'];
  const place = [...path, member, ...field];
  const digits = DIGITS.exec(String(written))?.[0] ?? '500';
  const report = (meaning: string, instead: string): readonly Finding[] => {
    const message = `${formatPath(place)} is ${formatValue(written)}, which is ${meaning} for each pod: write ${instead}`;
    return [finding('target-unit', place, message)];
  };
  if (body?.name === 'memory' && milli < LEAST_MEMORY) {
    const note = String(written).endsWith('m') ? ' (m is a thousandth)' : '';
    return report(`${Number(milli) / 1000} bytes${note}`, `${digits}Mi or ${digits}M`);
  }
  if (body?.name === 'cpu' && milli > MOST_CPU) return report(`${Number(milli) / 1000} cores`, `${digits}m`);
  return [];
}
