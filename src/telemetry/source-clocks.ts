import type { Log } from '../units/log.js';

/** Hears by how much the clock of a data source is ahead of ours, in seconds; negative: behind. */
export type SourceClocks = (source: string, aheadSeconds: number) => void;

/** More is no delay. From 120 s on the answers lower nothing (samples.ts). Source: reliability.md, 3.2. */
const WARN_SECONDS = 30;

/** Tells of a clock that is more than 30 s apart, once until it is right again. */
export function watchSourceClocks(log: Log): SourceClocks {
  const apart = new Set<string>();
  return (source, aheadSeconds) => {
    const isApart = Math.abs(aheadSeconds) > WARN_SECONDS;
    if (isApart === apart.has(source)) return;
    if (!isApart) {
      apart.delete(source);
      log.info('the clock of a data source is right again', { source });
      return;
    }
    apart.add(source);
    log.warn('the clock of a data source is not ours; from 120 s on its answers scale nothing down', {
      source,
      aheadSeconds: Math.round(aheadSeconds),
    });
  };
}
