import type { Answer } from '../../../prometheus/answer.js';

/** Returns the value of the only series of an answer; null if there is none or more than one. */
export function onlyValue(answer: Answer): number | null {
  if (answer.class !== 'value' && answer.class !== 'partial') return null;
  const [first, second] = answer.series;
  return first === undefined || second !== undefined ? null : first.value;
}

/** Returns the distinct values of one label over all series of an answer, sorted. */
export function labelValues(answer: Answer, label: string): readonly string[] {
  if (answer.class !== 'value' && answer.class !== 'partial') return [];
  const values = answer.series.map(({ labels }) =>
    Object.hasOwn(labels, label) ? labels[label] : undefined,
  );
  return [...new Set(values.filter((value) => value !== undefined && value !== ''))].sort() as string[];
}
