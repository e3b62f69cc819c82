import type { Answer } from '../../prometheus/answers/answer.js';

/** Returns the value if there is exactly one series; null otherwise. */
export function onlyValue(answer: Answer): number | null {
  if (answer.class !== 'value' && answer.class !== 'partial') return null;
  const [first, second] = answer.series;
  return first === undefined || second !== undefined ? null : first.value;
}

export function labelValues(answer: Answer, label: string): readonly string[] {
  if (answer.class !== 'value' && answer.class !== 'partial') return [];
  const values = answer.series.map(({ labels }) =>
    Object.hasOwn(labels, label) ? labels[label] : undefined,
  );
  return [...new Set(values.filter((value) => value !== undefined && value !== ''))].sort() as string[];
}
