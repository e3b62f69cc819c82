import { useEffect, useState } from 'preact/hooks';
import type { Clock } from '../../units/clock.js';

/** Returns the time in ms and renders again every `everyMs`. */
export function useNow(clock: Clock, everyMs: number): number {
  const [now, setNow] = useState<number>(() => clock.now());
  useEffect(() => {
    let cancel = (): void => undefined;
    const tick = (): void => {
      setNow(clock.now());
      cancel = clock.after(everyMs, tick);
    };
    cancel = clock.after(everyMs, tick);
    return () => cancel();
  }, [clock, everyMs]);
  return now;
}
