import type { ResultBuilder, CheckResult } from './check-result.js';

/** A smaller difference has no effect. */
const WARN_SECONDS = 5;
/** A typical scrape interval. With a larger difference, the age of samples is off by more than one scrape. */
const FAIL_SECONDS = 30;

/** `spreadSeconds` is the error of the measurement: half of the round trip plus the resolution of the response. */
export function judgeClockSkew(
  make: ResultBuilder,
  server: string,
  { aheadSeconds, spreadSeconds }: { readonly aheadSeconds: number; readonly spreadSeconds: number },
): CheckResult {
  const apart = Math.max(0, Math.abs(aheadSeconds) - spreadSeconds);
  if (apart < WARN_SECONDS) return make.ok('');
  const words = `the clock of ${server} is ${Math.round(Math.abs(aheadSeconds))} s ${aheadSeconds > 0 ? 'ahead of' : 'behind'} this machine's`;
  const fix =
    'synchronize both machines with a time server (NTP, chrony); `timedatectl` on each shows which one is not';
  return apart >= FAIL_SECONDS ? make.failed(words, fix) : make.warning(words, fix);
}
