import { errorSample } from '../../../src/decision/snapshot/judge-sample.js';
import type { OverviewRow, ServiceStatus } from '../../../src/api/answers.js';
import { buildCondition } from '../../../src/decision/result/condition.js';
import type { Pod, Sample } from '../../../src/decision/snapshot/snapshot.js';
import { targetReached } from '../../../src/control/cycle/target-reached.js';
import { after, fleetOf, overviewOf, serviceOf, stateOf } from './answers.js';
import type { FakeAnswers } from './fake-service.js';
import { AT_MAXIMUM, BLIND, HEALTHY, UNREAD } from './scaler-stories.js';
import { podsSample, refusedSample, tellWithRow, totalSample } from './scaler-story.js';
import type { Round, Story } from './scaler-story.js';

/** A fleet of 600 scalers, five of which cannot follow their load. */
export interface TroubledFleet {
  /** What a reader has to name: the worst scaler, its cause, and the next command. */
  readonly worst: string;
  readonly cause: RegExp;
  readonly command: RegExp;
  readonly answers: FakeAnswers;
}

/** Two hours. */
const ROUNDS = 480;
/** Ten minutes before now, in rounds. */
const SINCE = 40;

/** Before its trouble, a scaler has 30 to 70 percent of the load that its maximum may have. */
function calmLoad({ index }: Round): number {
  return 0.5 + 0.2 * Math.sin(index / 50);
}

/** The maximum of 8 replicas has so many percent of the load that they may have. */
function atMaximum(percent: number, rounds = SINCE): Story {
  return {
    ...AT_MAXIMUM,
    spec: { ...AT_MAXIMUM.spec, maxReplicas: 8 },
    startReplicas: 5,
    rounds: ROUNDS,
    samples: (round) => [
      podsSample(round, 8 * 0.6 * (round.index < ROUNDS - rounds ? calmLoad(round) : percent / 100)),
      totalSample(round, 90),
    ],
  };
}

function held(reason: 'ConflictingScaler', message: string): Story {
  return {
    ...HEALTHY,
    rounds: ROUNDS,
    change: ({ conditions }, round) =>
      round.index < ROUNDS - SINCE
        ? {}
        : { conditions: [...conditions, buildCondition('Held', reason, message)] },
  };
}

/** The nodes have room for so many pods. */
const ROOM = 8;

/** For 19 minutes, the pods that have a node have `percent` of their load, and others have none. */
function unready(percent: number): Story {
  const rounds = 76;
  const isPlaced = (_pod: Pod, index: number): boolean => index < ROOM;
  return {
    ...atMaximum(percent, rounds),
    spec: { ...AT_MAXIMUM.spec, maxReplicas: 40 },
    pods: (pods) => pods.map((pod, at) => (isPlaced(pod, at) ? pod : { ...pod, ready: false, ...UNPLACED })),
    samples: ({ pods, ...round }) => [
      podsSample(
        { ...round, pods: pods.filter(isPlaced) },
        ROOM * 0.6 * (round.index < ROUNDS - rounds ? calmLoad({ ...round, pods }) : percent / 100),
      ),
      totalSample({ ...round, pods }, 90),
    ],
    change: ({ at, conditions, snapshot }) => {
      const { pods = [], target } = snapshot ?? {};
      const wanted = target?.specReplicas ?? 0;
      const shortfall = wanted <= ROOM ? null : { since: at, wanted };
      const reached = targetReached({ specReplicas: wanted }, shortfall, { pods, now: at });
      return { conditions: [...conditions, reached] };
    },
  };
}

const UNPLACED = { phase: 'Pending', trouble: { kind: 'unschedulable', why: 'cpu' } } as const;

/** No metric has had a value for `rounds` rounds. */
function blind(rounds: number, sample: Sample): Story {
  return {
    ...BLIND,
    rounds: ROUNDS,
    samples: (round) => (round.index < ROUNDS - rounds ? HEALTHY.samples(round) : [sample, sample]),
  };
}

const empty = blind(30, errorSample('missing', 'no series'));
const down = blind(ROUNDS, refusedSample('billing', 'prometheus.billing:9090'));
const unread: Story = { ...UNREAD, rounds: ROUNDS };

const twoScalers = held(
  'ConflictingScaler',
  'HorizontalPodAutoscaler search/suggest scales the same target; promscaler patches nothing until only one autoscaler has this target',
);

/** The data source of the namespace billing does not answer for 3 hours. */
const DOWN_SECONDS = 11_000;

const CALM: OverviewRow['metric'] = { name: 'cpu', unit: 'percent', value: 48, target: 60 };

export const TROUBLED_FLEETS: Readonly<Record<string, TroubledFleet>> = {
  'a maximum far below the load': troubledFleet({
    worst: 'checkout/cart',
    cause: /^16 recommended, maxReplicas is 8$/,
    command:
      /^kubectl annotate -n checkout deployment\/cart --overwrite promscaler.dev\/paused=true promscaler.dev\/paused-replicas=16 /,
    stories: {
      'data/etl': empty,
      'checkout/cart': atMaximum(190),
      'search/suggest': twoScalers,
      'shop/images': atMaximum(112),
      'web/blog': unread,
    },
  }),
  'pods without a node': troubledFleet({
    worst: 'search/ranking',
    cause: /^8 of 14 pods are ready: 6 unschedulable because of cpu$/,
    command: /^kubectl get nodes$/,
    stories: {
      'billing/invoices': atMaximum(115),
      'data/etl': empty,
      'search/ranking': unready(165),
      'search/suggest': twoScalers,
      'shop/images': unread,
    },
  }),
  'no data for hours': troubledFleet({
    worst: 'billing/payments',
    cause: /^Prometheus: connection refused \(prometheus\.billing:9090\)$/,
    command: /^kubectl get -n billing pods$/,
    stories: {
      'billing/payments': down,
      'billing/refunds': down,
      'data/etl': atMaximum(112, 20),
      'search/suggest': twoScalers,
      'shop/cart': unready(115),
    },
    since: { 'billing/payments': -DOWN_SECONDS, 'billing/refunds': 60 - DOWN_SECONDS },
    service: serviceOf({
      dataSources: [
        ...serviceOf().dataSources,
        {
          name: 'billing',
          urls: ['http://prometheus.billing:9090'],
          isReachable: false,
          failingSince: after(-DOWN_SECONDS),
          lastError: { at: after(-4), message: 'connection refused' },
          queries: 5000,
          errors: 1400,
          latencySeconds: null,
          holdUntil: null,
          dependents: 2,
        },
      ],
    }),
  }),
};

/** A fleet of 600 scalers, one of which cannot follow its load. */
export const ONE_TROUBLE: FakeAnswers = fleetWith({ stories: { 'checkout/cart': atMaximum(190) } });

interface Trouble {
  readonly stories: Readonly<Record<string, Story>>;
  /** Seconds after now since when a scaler has its state, other than what its story says. */
  readonly since?: Readonly<Record<string, number>>;
  readonly service?: ServiceStatus;
}

function troubledFleet({
  worst,
  cause,
  command,
  ...trouble
}: Trouble & Omit<TroubledFleet, 'answers'>): TroubledFleet {
  return { worst, cause, command, answers: fleetWith(trouble) };
}

/** Returns the answers about these scalers among others that follow their load. */
function fleetWith({ stories, since = {}, service = serviceOf() }: Trouble): FakeAnswers {
  const told = Object.entries(stories).map(([key, story]) => {
    const [namespace = '', name = ''] = key.split('/');
    const spec = { ...story.spec, scaleTargetRef: { name } };
    const { answers, row } = tellWithRow({ ...story, spec, namespace, name });
    const seconds = since[key];
    if (seconds === undefined) return { answers, row };
    return { answers, row: { ...row, state: { ...row.state, since: after(seconds) } } };
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
    overview: () => overviewOf(rows),
    service: () => service,
    others: Object.assign({}, ...told.map(({ answers }) => answers)) as NonNullable<FakeAnswers['others']>,
  };
}
