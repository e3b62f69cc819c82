import fc from 'fast-check';

/** A query of which each pod is evaluated on its own, as a tree, so that a test can evaluate it without a server. */
export type PodQuery =
  | { readonly form: 'selector'; readonly metric: Metric }
  | { readonly form: 'range'; readonly name: RangeFunction; readonly metric: Metric }
  | { readonly form: 'aggregate'; readonly name: string; readonly by: Grouping; readonly of: PodQuery }
  | { readonly form: 'call'; readonly name: Call; readonly of: PodQuery }
  | {
      readonly form: 'binary';
      readonly operator: Operator;
      readonly on: Matching;
      readonly left: PodQuery;
      readonly right: PodQuery;
    };

export type Metric = 'x' | 'y' | 'z_bucket';
type RangeFunction = 'rate' | 'last_over_time' | 'max_over_time';
/** The labels of a series besides these are dropped; `without container`: only that one is. */
export type Grouping = 'by (pod)' | 'by (le, pod)' | 'without (container)';
export type Call = '-' | 'clamp_min' | '/ 7' | '> 5' | 'histogram_quantile' | 'histogram_count';
export type Operator = '/' | '+' | '>' | 'and' | 'or' | 'unless';
export type Matching = '' | 'on (pod)' | 'on (pod) group_left ()';

/** What a series has: numbers, native histograms, or first the one and then the other. */
export type Kind = 'numbers' | 'histograms' | 'mixed';

/** A series of a pod. */
export interface PodsSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly kind: Kind;
  /** How much it grows in 15 s; NaN: it is always NaN. */
  readonly step: number;
}

/** Shares by repetition: most workloads are as they should be. */
const kind = fc.constantFrom<Kind>(...Array<Kind>(14).fill('numbers'), 'histograms', 'mixed');
const step = fc.constantFrom(0, 1, 2, 3, 5, 7, 11, NaN, 1, 2, 3);
const isSeldom = fc.nat(9).map((number) => number === 0);

/** The series of one of the pods of a workload. */
const podShape = fc.record({
  x: fc.array(fc.record({ kind, step }), { maxLength: 2 }),
  y: fc.array(fc.record({ kind, step }), { maxLength: 1 }),
  isTwice: isSeldom,
  hasBuckets: fc.boolean(),
  hasBadBucket: isSeldom,
});

export interface Workload {
  readonly name: string;
  readonly pods: readonly string[];
  readonly series: readonly PodsSeries[];
}

/** Workloads with random series, always the same for a seed. */
export function randomWorkloads(count: number, seed: number): readonly Workload[] {
  const shapes = fc.sample(fc.array(podShape, { minLength: 1, maxLength: 2 }), { numRuns: count, seed });
  return shapes.map((ofPods, index) => {
    const name = `w${String(index).padStart(3, '0')}`;
    const pods = ofPods.map((_, pod) => `${name}-6d4cf5-bbbb${'bcdf'[pod] ?? 'x'}`);
    return { name, pods, series: ofPods.flatMap((shape, pod) => seriesOf(pods[pod] ?? '', shape)) };
  });
}

type PodShape = typeof podShape extends fc.Arbitrary<infer Shape> ? Shape : never;

function seriesOf(pod: string, { x, y, isTwice, hasBuckets, hasBadBucket }: PodShape): readonly PodsSeries[] {
  const named = (
    name: Metric,
    labels: Readonly<Record<string, string>>,
    shape: Omit<PodsSeries, 'labels'>,
  ) => ({
    labels: { __name__: name, pod, ...labels },
    ...shape,
  });
  const buckets = hasBuckets ? ['1', '5', hasBadBucket ? 'five' : '+Inf'] : [];
  return [
    ...x.map((shape, container) => named('x', { container: `c${container}` }, shape)),
    ...y.map((shape) => named('y', { node: 'n1' }, shape)),
    ...(isTwice ? y.map((shape) => named('y', { node: 'n2' }, shape)) : []),
    ...buckets.map((le, index) => named('z_bucket', { le }, { kind: 'numbers', step: index + 1 })),
  ];
}

const metric = fc.constantFrom<Metric>('x', 'x', 'y', 'z_bucket');
const by = fc.constantFrom<Grouping>('by (pod)', 'by (pod)', 'by (le, pod)', 'without (container)');

export const { podQuery } = fc.letrec<{ podQuery: PodQuery }>((tie) => ({
  podQuery: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({ form: fc.constant('selector' as const), metric }),
    fc.record({
      form: fc.constant('range' as const),
      name: fc.constantFrom('rate', 'last_over_time', 'max_over_time'),
      metric,
    }),
    fc.record({
      form: fc.constant('aggregate' as const),
      name: fc.constantFrom('sum', 'avg', 'max', 'count', 'group', 'quantile(0.5', 'quantile(2'),
      by,
      of: tie('podQuery'),
    }),
    fc.record({
      form: fc.constant('call' as const),
      name: fc.constantFrom('-', 'clamp_min', '/ 7', '> 5', 'histogram_quantile', 'histogram_count'),
      of: tie('podQuery'),
    }),
    fc.record({
      form: fc.constant('binary' as const),
      operator: fc.constantFrom('/', '+', '>', 'and', 'or', 'unless'),
      on: fc.constantFrom('', 'on (pod)', 'on (pod)', 'on (pod) group_left ()'),
      left: tie('podQuery'),
      right: tie('podQuery'),
    }),
  ),
}));

/** Returns the text of a query, with `$pods`. */
export function writeQuery(query: PodQuery): string {
  switch (query.form) {
    case 'selector':
      return `${query.metric}{pod=~"$pods"}`;
    case 'range':
      return `${query.name}(${query.metric}{pod=~"$pods"}[2m])`;
    case 'aggregate': {
      const [name = '', parameter] = query.name.split('(');
      return `${name} ${query.by} (${parameter === undefined ? '' : `${parameter}, `}${writeQuery(query.of)})`;
    }
    case 'call':
      return writeCall(query.name, writeQuery(query.of));
    case 'binary':
      return `(${writeQuery(query.left)}) ${query.operator} ${query.on} (${writeQuery(query.right)})`;
    default:
      return query satisfies never;
  }
}

function writeCall(name: Call, of: string): string {
  switch (name) {
    case '-':
      return `-(${of})`;
    case '/ 7':
    case '> 5':
      return `(${of}) ${name}`;
    case 'clamp_min':
      return `clamp_min(${of}, 3)`;
    case 'histogram_quantile':
      return `histogram_quantile(0.9, ${of})`;
    case 'histogram_count':
      return `histogram_count(${of})`;
    default:
      return name satisfies never;
  }
}
