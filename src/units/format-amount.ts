/** Rounds to three decimals, or to three significant digits below 1. */
export function formatNumber(value: number): string {
  const rounded = Math.abs(value) < 1 ? Number(value.toPrecision(3)) : Math.round(value * 1000) / 1000;
  return String(rounded);
}

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;

export function isInBytes(metricName: string): boolean {
  return metricName === 'memory';
}

/**
 * Formats a value in base units: memory with a binary suffix and at most `decimals` decimals (`900Mi`), other values as
 * a number. All outputs use it, so that one quantity has one unit.
 */
export function formatAmount(value: number, metricName: string, decimals = 1): string {
  if (!isInBytes(metricName)) return formatNumber(value);
  let power = 0;
  while (Math.abs(value) / 1024 ** power >= 1024 && power < BINARY.length - 1) power += 1;
  return `${Number((value / 1024 ** power).toFixed(decimals))}${BINARY[power] ?? ''}`;
}
