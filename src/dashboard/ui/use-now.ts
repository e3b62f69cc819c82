import { useEffect, useRef, useState } from 'preact/hooks';
import type { Clock } from '../../units/clock.js';
import { createCell } from '../data/cell.js';

/** The time of the page in ms. All ages and countdowns use this one time, so that they never contradict each other. */
const now = createCell(0);

const TICK_MS = 1000;

export function startTicking(clock: Clock): void {
  const tick = (): void => {
    now.set(clock.now());
    clock.after(TICK_MS, tick);
  };
  tick();
}

/** Returns a value that depends on the time in ms. The component renders again only if the value has changed. */
export function useNow<T extends string | number | boolean>(read: (nowMs: number) => T): T {
  const [, render] = useState<object>({});
  const value = read(now.get());
  const latest = useRef({ read, value });
  latest.current = { read, value };
  useEffect(
    () =>
      now.subscribe(() => {
        if (latest.current.read(now.get()) !== latest.current.value) render({});
      }),
    [],
  );
  return value;
}

/** Returns the time in ms, rounded down to a multiple of `stepMs`, for labels that several components share. */
export function useSteps(stepMs: number): number {
  return useNow((nowMs) => Math.floor(nowMs / stepMs) * stepMs);
}
