import type { Result } from './variant.js';

/**
 * Returns the names of the variants that no other one beats: none of them has both at most as many pod-hours and at most
 * as much under-provisioning, and less of one.
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
