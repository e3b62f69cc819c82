import { errorKindOf } from '../../src/decision/snapshot/snapshot.js';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import { SPLITS_PER_NAMESPACE, SPLITS_PER_SOURCE } from '../../src/prometheus/queries/merged-query.js';
import { createWorkloadQueries } from '../../src/prometheus/queries/workloads.js';
import { toSample } from '../../src/prometheus/samples.js';
import { patternText, podsPatternOf } from '../../src/promql/pods-pattern.js';
import { substitute } from '../../src/promql/variables.js';
import type { PodsMetric } from '../../src/scaler/spec.js';
import { aPod, aSource, T0 } from './builders.js';
import type { Workload } from './pod-queries.js';

/** Two of them to find members that are clean alone only, two to find those among them. */
const ROUNDS = 5;

export interface Comparison {
  /** Comparisons of a workload in a round, and those whose classes, or whose values of the same class, differ. */
  readonly compared: number;
  readonly differences: readonly string[];
  /** Classes of the answers for the workloads alone. */
  readonly classes: readonly string[];
  /** Queries of each round with the merged query. */
  readonly sent: readonly number[];
}

/** Compares what workloads get from a merged query, in 5 rounds, with what a query for each of them returns. */
export async function compareWithAlone(
  written: string,
  workloads: readonly Workload[],
  ask: (query: string) => Promise<Answer>,
): Promise<Comparison> {
  const metric: PodsMetric = {
    type: 'Pods',
    name: 'm',
    identity: 'm',
    source: 'default',
    query: written,
    selector: [],
    target: { type: 'AverageValue', milli: 1000n },
  };
  const sampleOf = (
    { name, pods }: Workload,
    answer: Answer,
  ): readonly [string, Readonly<Record<string, number>>] => {
    const sample = toSample({ ...metric }, answer, {
      namespace: 'shop',
      workload: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      pods: pods.map((pod) => aPod(pod)),
      now: 'evaluatedAt' in answer ? answer.evaluatedAt : T0,
      source: aSource(),
    });
    if (sample.form === 'error')
      return [`${answer.class === 'failed' ? answer.reason : ''} ${errorKindOf(sample.failure)}`, {}];
    const values =
      sample.form === 'pods'
        ? Object.fromEntries(sample.pods.map((pod, index) => [pod, sample.values[index] ?? NaN]))
        : {};
    return [sample.partial === null ? 'value' : 'partial', values];
  };
  const patterns = new Map(
    workloads.map(({ name }) => {
      const pattern = podsPatternOf('Deployment', name);
      return [patternText(pattern), pattern];
    }),
  );
  const textOf = ({ name }: Workload): string => patternText(podsPatternOf('Deployment', name));
  const alone = await Promise.all(
    workloads.map(async (one) => sampleOf(one, await ask(substitute(written, { pods: textOf(one) })))),
  );
  const merged = createWorkloadQueries(written, (error) => {
    throw error;
  });
  const differences: string[] = [];
  const sent: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    let queries = 0;
    const answers = merged.sendForWorkloads(patterns, {
      round,
      budget: { left: SPLITS_PER_NAMESPACE, source: { left: SPLITS_PER_SOURCE } },
      query: async (query) => {
        queries += 1;
        return { answer: await ask(query), seconds: 0.001 };
      },
      limit: 7.5,
    });
    for (const [index, one] of workloads.entries()) {
      const answer = await answers.get(textOf(one));
      if (answer === undefined) throw new Error(`no answer for ${one.name}`);
      const [kind, values] = sampleOf(one, answer);
      const [ownKind, ownValues] = alone[index] ?? ['none', {}];
      if (kind !== ownKind || !areNear(values, ownValues))
        differences.push(
          `${written}: ${one.name} in round ${round} is ${kind} ${JSON.stringify(values)}, alone ${ownKind} ${JSON.stringify(ownValues)}`,
        );
    }
    sent.push(queries);
  }
  return { compared: ROUNDS * workloads.length, differences, classes: alone.map(([kind]) => kind), sent };
}

/** Sums may be added in another order. */
function areNear(some: Readonly<Record<string, number>>, others: Readonly<Record<string, number>>): boolean {
  const keys = Object.keys(some);
  return (
    keys.length === Object.keys(others).length &&
    keys.every((key) => {
      const [one = NaN, other = NaN] = [some[key], others[key]];
      return Object.is(one, other) || Math.abs(one - other) <= 1e-9 * Math.abs(one);
    })
  );
}
