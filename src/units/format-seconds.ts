/** Returns a duration as in kubectl: `45s`, `4m10s`, `3h5m`, `2d4h`. A negative duration is `0s`. */
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

/** Returns a duration as `45 s`, below 10 s with one decimal: `0.5 s`. */
export function inSeconds(seconds: number): string {
  return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
}
