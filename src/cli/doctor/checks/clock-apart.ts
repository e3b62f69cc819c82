import type { FindingMaker, Finding } from '../finding.js';

/** Up to here nothing happens. */
const WARN_SECONDS = 5;
/** A whole scrape: from there on samples are judged by the wrong age. */
const FAIL_SECONDS = 30;

/**
 * Judges how far a server's clock is from ours. `spreadSeconds` is what the measurement itself leaves open: half of
 * the way there and back, and the resolution of what the server told.
 */
export function judgeClock(
  make: FindingMaker,
  server: string,
  { aheadSeconds, spreadSeconds }: { readonly aheadSeconds: number; readonly spreadSeconds: number },
): Finding {
  const apart = Math.max(0, Math.abs(aheadSeconds) - spreadSeconds);
  if (apart < WARN_SECONDS) return make.ok('');
  const words = `the clock of ${server} is ${Math.round(Math.abs(aheadSeconds))} s ${aheadSeconds > 0 ? 'ahead of' : 'behind'} this machine's`;
  const mend =
    'let both machines follow a time server: `timedatectl` on each says which of them does not (NTP, chrony)';
  return apart >= FAIL_SECONDS ? make.failed(words, mend) : make.warning(words, mend);
}
