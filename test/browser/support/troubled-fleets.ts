import type { OverviewRow } from '../../../src/api/answers.js';
import { buildCondition } from '../../../src/decision/result/condition.js';
import { addSeconds, instantFromMs } from '../../../src/units/time.js';
import { AT, fleetOf, overviewOf, serviceOf, stateOf } from './answers.js';
import type { FakeAnswers } from './fake-service.js';
import { AT_MAXIMUM, BLIND, HEALTHY, UNREAD } from './scaler-stories.js';
import { podsSample, tellWithRow, totalSample } from './scaler-story.js';
import type { Story } from './scaler-story.js';

/** A fleet of 600 scalers, five of which cannot follow their load. */
export interface TroubledFleet {
  /** What a reader has to name: the worst scaler, its cause, and the next command. */
  readonly worst: string;
  readonly cause: RegExp;
  readonly command: RegExp;
  readonly answers: FakeAnswers;
}

/** Ten minutes before now, in rounds. */
const SINCE = 40;

/** The maximum of 8 replicas has so many percent of the load that they may have. */
function atMaximum(percent: number, rounds = SINCE): Story {
  return {
    ...AT_MAXIMUM,
    spec: { ...AT_MAXIMUM.spec, maxReplicas: 8 },
    startReplicas: 8,
    rounds: 2 * rounds,
    samples: (round) => [
      podsSample(round, 8 * 0.6 * (round.index < rounds ? 0.7 : percent / 100)),
      totalSample(round, 90),
    ],
  };
}

function held(reason: 'ConflictingScaler', message: string): Story {
  return {
    ...HEALTHY,
    rounds: 2 * SINCE,
    change: ({ conditions }, round) =>
      round.index < SINCE ? {} : { conditions: [...conditions, buildCondition('Held', reason, message)] },
  };
}

/** New pods do not become ready, while the others have so many percent of their load. */
function unready(percent: number): Story {
  return {
    ...atMaximum(percent),
    spec: { ...AT_MAXIMUM.spec, maxReplicas: 40 },
    outcome: (wanted) => ({ ...wanted, kind: 'none', to: wanted.from }),
    change: ({ conditions }) => ({
      conditions: [
        ...conditions,
        buildCondition(
          'TargetReached',
          'Unschedulable',
          '8 replicas, 5 ready: 3 unschedulable because of cpu',
        ),
      ],
    }),
  };
}

const blind: Story = { ...BLIND, rounds: 2 * SINCE };
const unread: Story = { ...UNREAD, rounds: 2 * SINCE };
const twoScalers = held(
  'ConflictingScaler',
  'HorizontalPodAutoscaler search/suggest scales the same target; promscaler patches nothing until that is deleted',
);

const CALM: OverviewRow['metric'] = { name: 'cpu', unit: 'percent', value: 48, target: 60 };

export const TROUBLED_FLEETS: Readonly<Record<string, TroubledFleet>> = {
  'a maximum far below the load': troubledFleet({
    worst: 'checkout/cart',
    cause: /^16 recommended, maxReplicas is 8$/,
    command: /^maxReplicas: 16$/,
    stories: {
      'data/etl': blind,
      'checkout/cart': atMaximum(190),
      'search/suggest': twoScalers,
      'shop/images': atMaximum(112),
      'web/blog': unread,
    },
  }),
  'pods without a node': troubledFleet({
    worst: 'search/ranking',
    cause: /^8 replicas, 5 ready: 3 unschedulable because of cpu$/,
    command: /^kubectl get -n search events --sort-by=\.lastTimestamp$/,
    stories: {
      'billing/invoices': atMaximum(115),
      'data/etl': blind,
      'search/ranking': unready(165),
      'search/suggest': twoScalers,
      'shop/images': unread,
    },
  }),
  'no data for hours': troubledFleet({
    worst: 'billing/payments',
    cause: /^connect ECONNREFUSED 10\.0\.0\.7:9090 for cpu, and 1 more$/,
    command: /^promscaler doctor$/,
    stories: {
      'billing/payments': { ...BLIND, rounds: 30 },
      'data/etl': { ...unread, rounds: 20 },
      'search/suggest': twoScalers,
      'shop/cart': { ...UNREAD, rounds: 12 },
      'web/frontend': { ...BLIND, rounds: 31 },
    },
    since: { 'billing/payments': -11_000 },
  }),
};

interface Plan extends Pick<TroubledFleet, 'worst' | 'cause' | 'command'> {
  readonly stories: Readonly<Record<string, Story>>;
  /** Seconds after now since when a scaler has its state, other than what its story says. */
  readonly since?: Readonly<Record<string, number>>;
}

function troubledFleet({ stories, since = {}, ...expected }: Plan): TroubledFleet {
  const told = Object.entries(stories).map(([key, story]) => {
    const [namespace = '', name = ''] = key.split('/');
    const { answers, row } = tellWithRow({ ...story, namespace, name });
    const seconds = since[key];
    if (seconds === undefined) return { answers, row };
    const at = new Date(addSeconds(instantFromMs(Date.parse(AT)), seconds)).toISOString();
    return { answers, row: { ...row, state: { ...row.state, since: at } } };
  });
  const calm = fleetOf(600 - told.length).map((row): OverviewRow => {
    return row.state.severity === 'cannot-follow'
      ? { ...row, current: 4, desired: 4, state: stateOf('OK'), metric: CALM }
      : row;
  });
  const rows = [...calm, ...told.map(({ row }) => row)].sort((a, b) =>
    `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1,
  );
  return {
    ...expected,
    answers: {
      overview: () => overviewOf(rows),
      service: () => serviceOf(),
      others: Object.assign({}, ...told.map(({ answers }) => answers)) as NonNullable<FakeAnswers['others']>,
    },
  };
}
