/** Returns a number with three decimals or, below 1, with three significant digits. */
export function formatNumber(value: number): string {
  const rounded = Math.abs(value) < 1 ? Number(value.toPrecision(3)) : Math.round(value * 1000) / 1000;
  return String(rounded);
}

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;

/** Returns whether a metric is memory. `metricName` may include the container: `app/memory`. */
export function isInBytes(metricName: string): boolean {
  return metricName === 'memory' || metricName.endsWith('/memory');
}

/**
 * Returns a value in base units as text. Memory has a binary suffix and at most `decimals` decimals (`900Mi`); other
 * values are plain numbers. All outputs use this function, so that a quantity has the same unit everywhere.
 */
export function formatAmount(value: number, metricName: string, decimals = 1): string {
  if (!isInBytes(metricName)) return formatNumber(value);
  let power = 0;
  while (Math.abs(value) / 1024 ** power >= 1024 && power < BINARY.length - 1) power += 1;
  return `${Number((value / 1024 ** power).toFixed(decimals))}${BINARY[power] ?? ''}`;
}

/** Returns a duration as kubectl prints it: `45s`, `4m10s`, `3h5m`, `2d4h`. A negative duration is `0s`. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [days, hours, minutes] = [
    Math.floor(whole / 86_400),
    Math.floor(whole / 3600) % 24,
    Math.floor(whole / 60) % 60,
  ];
  if (days > 0) return `${days}d${hours === 0 ? '' : `${hours}h`}`;
  if (hours > 0) return `${hours}h${minutes === 0 ? '' : `${minutes}m`}`;
  const rest = whole % 60;
  return minutes > 0 ? `${minutes}m${rest === 0 ? '' : `${rest}s`}` : `${rest}s`;
}

/** Returns a duration in seconds: `45 s`, or below 10 s with one decimal: `0.5 s`. */
export function inSeconds(seconds: number): string {
  return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
}

/** Returns a number with noun and verb: `1 pod is`, `2 pods are`. */
export function countAre(number: number, noun: string): string {
  return `${countOf(number, noun)} ${number === 1 ? 'is' : 'are'}`;
}

/** Returns a number with its noun: `1 pod`, `2 pods`. */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Returns at most `most` names, and how many more there are: `a, b, c and 4 more`. */
export function listSome(names: readonly string[], most = 5): string {
  const rest = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${rest}`;
}
