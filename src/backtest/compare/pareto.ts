import type { Result } from './variant.js';

/**
 * Returns the names of the variants on the Pareto front: no other variant has fewer pod-hours without more
 * under-provisioning, or less under-provisioning without more pod-hours.
 */
export function paretoFront(results: readonly Result[]): ReadonlySet<string> {
  const scored = results.flatMap(({ name, figures }) => (figures === null ? [] : [{ name, figures }]));
  const isBeaten = (one: (typeof scored)[number]): boolean =>
    scored.some(
      ({ figures }) =>
        figures.podHours <= one.figures.podHours &&
        figures.thetaU <= one.figures.thetaU &&
        (figures.podHours < one.figures.podHours || figures.thetaU < one.figures.thetaU),
    );
  return new Set(scored.filter((one) => !isBeaten(one)).map(({ name }) => name));
}
