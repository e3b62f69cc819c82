/** What the benchmark runs on: short intervals, so that 30 steps take minutes. */
export const NAMESPACE = 'reaction';
export const SCALERS = 10;
export const SCRAPE_SECONDS = 1;
export const RATE_WINDOW_SECONDS = 4;
/** A first count, which each step doubles. */
export const START_REPLICAS = 2;
export const REQUESTS_PER_REPLICA = 10;
export const MAX_REPLICAS = 200;

export const NAMES: readonly string[] = Array.from({ length: SCALERS }, (_, index) => `app-${index}`);

/** The longest time from a step until the whole step is in a rate that a round reads. */
export function floorSeconds(syncPeriodSeconds: number): number {
  return SCRAPE_SECONDS + RATE_WINDOW_SECONDS + syncPeriodSeconds;
}

/** A request to the process of the load. */
export interface StepsOrder {
  readonly stepsPerScaler: number;
  readonly syncPeriodSeconds: number;
}

/** One step of the load, and how long the API server waited for the PATCHes. */
export interface Step {
  /** Until the first PATCH that raises the replicas. */
  readonly firstSeconds: number;
  /** Until the PATCH after which the replicas suffice for the whole step. */
  readonly fullSeconds: number;
}
