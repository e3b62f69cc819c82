import { formatInstant } from '../units/time.js';
import { FIGURE_NAMES, QUEUE_FIGURE_NAMES, readFigure } from './compare/threshold.js';
import type { Scoring } from './compare/figures.js';
import { paretoFront, type Result } from './compare/variant.js';
import type { Recommendation } from './compare/recommend.js';
import { RAN } from './history/recorded-run.js';

export interface Report {
  readonly scoring: Scoring;
  /** The results of the variants, in the order of the command line. */
  readonly variants: readonly Result[];
  readonly baselines: readonly Result[];
  /** Sentences about values that are assumed instead of measured. */
  readonly assumptions: readonly string[];
  readonly recommendation?: RecommendedChange;
}

export type RecommendedChange = Pick<Recommendation, 'change' | 'reason' | 'saving'>;

/** Returns the report as plain JSON. Times are in RFC 3339, durations in seconds, shares in percent. */
export function reportToJson({
  scoring,
  variants,
  baselines,
  assumptions,
  recommendation,
}: Report): Readonly<Record<string, unknown>> {
  const { demand } = scoring;
  const front = paretoFront(variants);
  return {
    from: formatInstant(demand.start),
    to: formatInstant(demand.end),
    demandStepSeconds: demand.stepSeconds,
    assumptions,
    ...(recommendation === undefined ? {} : { recommendation }),
    variants: variants.map((result) => ({
      ...resultToJson(result),
      ...replicasToJson(result),
      onParetoFront: front.has(result.name),
    })),
    baselines: baselines.map((result) => ({
      ...resultToJson(result),
      ...(result.name === RAN ? replicasToJson(result) : {}),
    })),
  };
}

function replicasToJson({ run }: Result): Readonly<Record<string, unknown>> {
  return run === null
    ? {}
    : { replicas: run.replicas.map(({ at, count }) => ({ at: formatInstant(at), count })) };
}

function resultToJson({ name, run, figures, error }: Result): Readonly<Record<string, unknown>> {
  if (figures === null) return { name, error };
  return {
    name,
    figures: {
      ...Object.fromEntries(
        FIGURE_NAMES.filter((figure) => figures.queue !== null || !QUEUE_FIGURE_NAMES.includes(figure)).map(
          (figure) => [figure, readFigure(figure, figures)],
        ),
      ),
      by_limit: figures.byLimit,
    },
    changes: run.changes.map(({ at, currentReplicas, desiredReplicas, reason }) => ({
      at: formatInstant(at),
      from: currentReplicas,
      to: desiredReplicas,
      reason,
    })),
  };
}
