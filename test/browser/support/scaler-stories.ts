import { type Pause, pauseMessage } from '../../../src/decision/pause.js';
import { errorSample } from '../../../src/decision/snapshot/judge-sample.js';
import { buildCondition } from '../../../src/decision/result/condition.js';
import { podsSample, refusedSample, totalSample } from './scaler-story.js';
import type { Round, Story } from './scaler-story.js';
import type { LoadHistory } from '../../../src/decision/snapshot/snapshot.js';
import { addSeconds, type Instant } from '../../../src/units/time.js';
import { HOSTILE } from './answers.js';

const CPU = { resource: { name: 'cpu', target: { averageUtilization: 60 } } };
const QUEUE = {
  external: { metric: { name: 'queue_depth' }, query: 'sum(queue_depth)', target: { averageValue: '30' } },
};

/** 0 to 1 and back, so many times. */
function wave({ index, rounds }: Round, times: number): number {
  return (1 - Math.cos((index / rounds) * times * 2 * Math.PI)) / 2;
}

/** Two hours with two waves of load; the last scale-down is held by the stabilization window. */
export const HEALTHY: Story = {
  spec: { scaleTargetRef: { name: 'web' }, minReplicas: 2, maxReplicas: 12, metrics: [CPU, QUEUE] },
  rounds: 400,
  startReplicas: 3,
  samples: (round) => [
    podsSample(round, 1 + 5.5 * wave(round, 2.2) + 0.3 * Math.sin(round.index)),
    totalSample(round, Math.round(40 + 220 * wave({ ...round, index: round.index + 40 }, 2.2))),
  ],
};

const LEAD_SECONDS = 240;

/** Cores in a minute after the last round: two openings, one behind it and one to come. */
function loadOf(minute: number): number {
  const between = (from: number, to: number): number =>
    Math.max(0, Math.min(1, (minute - from) / 5, (to - minute) / 10));
  return 3 + 5 * between(-70, -35) + 6 * between(18, 55);
}

/** Seven days with the load of today, each a little different. */
function daysAt(now: Instant, minute: number): LoadHistory['seasons'] {
  const mean = (minutes: readonly number[]): number =>
    minutes.reduce((sum, one) => sum + loadOf(minute + one), 0) / minutes.length;
  const highest = Math.max(...[1, 2, 3, 4, 5, 6, 7].map((later) => loadOf(minute + later)));
  return [1, 2, 3, 4, 5, 6, 7].map((day) => ({
    at: addSeconds(now, LEAD_SECONDS - day * 86_400),
    load: highest * (1 + 0.18 * Math.sin(day)),
    level: mean([-9, -7, -5, -3, -1]),
  }));
}

function historyAt(now: Instant, minute: number): LoadHistory {
  return { leadSeconds: LEAD_SECONDS, highest: 11, seasons: daysAt(now, minute), unusable: null };
}

/** A load that rises at the same times each day; the next rise is expected in 18 minutes. */
export const FORECAST: Story = {
  spec: {
    scaleTargetRef: { name: 'web' },
    minReplicas: 2,
    maxReplicas: 20,
    metrics: [CPU],
    forecast: { mode: 'Raise' },
  },
  rounds: 400,
  startReplicas: 5,
  samples: (round) => [
    podsSample(round, loadOf((round.index + 1 - round.rounds) / 4) + 0.05 * Math.sin(round.index)),
  ],
  loadHistory: ({ now, index, rounds }) => historyAt(now, (index + 1 - rounds) / 4),
  loadAhead: (now) => ({
    history: historyAt(now, 0),
    later: Array.from({ length: 60 }, (_, minute) => {
      const seconds = 60 * (minute + 1) - LEAD_SECONDS;
      const seasons = daysAt(addSeconds(now, seconds), seconds / 60);
      return { at: addSeconds(now, 60 * (minute + 1)), seconds, seasons };
    }),
  }),
};

/** The load asks for more than the maximum. */
export const AT_MAXIMUM: Story = {
  ...HEALTHY,
  spec: { ...HEALTHY.spec, maxReplicas: 5 },
  samples: (round) => [podsSample(round, 6), totalSample(round, 90)],
};

/** The second wave of the load asks for more than the maximum. A new pod needs 75 s. */
export const CAPPED: Story = {
  ...HEALTHY,
  startRounds: 5,
  spec: { ...HEALTHY.spec, maxReplicas: 8 },
  samples: (round) => [
    podsSample(round, 1 + 5.5 * wave(round, 1.6) + 0.2 * Math.sin(round.index)),
    totalSample(round, Math.round(40 + 160 * wave(round, 1.6))),
  ],
};

/** Every metric has failed for the last rounds. */
export const BLIND: Story = {
  ...HEALTHY,
  samples: (round) =>
    round.index < round.rounds - 30
      ? HEALTHY.samples(round)
      : [
          refusedSample('default', 'prometheus.monitoring:9090'),
          errorSample('missing', 'the query returned no series'),
        ],
};

/** The target cannot be read. */
export const UNREAD: Story = {
  ...HEALTHY,
  change: ({ scaler }, round) =>
    round.index < round.rounds - 10
      ? {}
      : {
          snapshot: null,
          decision: null,
          outcome: { kind: 'none', from: null, to: null, message: '' },
          conditions: [
            {
              type: 'AbleToScale',
              status: 'False',
              reason: 'FailedGetScale',
              message: `deployments.apps "${scaler.spec.scaleTargetRef.name}" not found`,
            },
          ],
        },
};

/** Only the first round. */
export const FIRST_ROUND: Story = { ...HEALTHY, rounds: 1 };

/** 100 pods in all groups and 5 metrics. */
export const LARGE: Story = {
  spec: {
    scaleTargetRef: { name: 'web' },
    minReplicas: 20,
    maxReplicas: 200,
    metrics: [
      CPU,
      { resource: { name: 'memory', target: { averageValue: '700Mi' } } },
      { containerResource: { name: 'cpu', container: 'app', target: { averageUtilization: 80 } } },
      QUEUE,
      { external: { metric: { name: 'orders' }, query: 'sum(orders)', target: { value: '900' } } },
    ],
    forecast: {},
  },
  rounds: 60,
  startReplicas: 100,
  pods: (pods) =>
    pods.map((pod, index) =>
      index % 20 === 3
        ? { ...pod, ready: false, phase: 'Pending' }
        : index % 25 === 7
          ? { ...pod, deleting: true }
          : pod,
    ),
  samples: (round) => [
    podsSample(round, 62, (name) => name.endsWith('1')),
    podsSample(round, 100 * 700 * 1024 ** 2 * (0.9 + 0.2 * wave(round, 3))),
    podsSample(round, 78),
    totalSample(round, 2900 + 200 * wave(round, 5)),
    totalSample(round, 905),
  ],
};

/** Names, messages and units that a page must only show. */
export const HOSTILE_STORY: Story = {
  ...HEALTHY,
  spec: {
    scaleTargetRef: { name: 'web' },
    minReplicas: 1,
    maxReplicas: 12,
    metrics: [
      CPU,
      {
        external: {
          metric: { name: 'up' },
          query: `sum(up{job="${HOSTILE.emoji}"})`,
          target: { averageValue: '30' },
        },
      },
    ],
  },
  rounds: 60,
  podName: (index) => `${HOSTILE.html}${HOSTILE.rightToLeft}${HOSTILE.long}-${index}`,
  samples: (round) => [podsSample(round, 2), errorSample('unknown', `${HOSTILE.html} ${HOSTILE.long}`)],
  change: (record) => ({
    reason: `${HOSTILE.html} ${HOSTILE.arabic} ${HOSTILE.long}`,
    conditions: record.conditions.map((condition) => ({ ...condition, message: HOSTILE.html })),
  }),
};

/** Eight limits change the result, as far as a decision allows them together. */
export const MANY_LIMITS: Story = {
  ...HEALTHY,
  change: (record) =>
    record.decision === null
      ? {}
      : {
          decision: {
            ...record.decision,
            recommendedReplicas: 1,
            limits: (
              [
                'stabilization',
                'recovery_hold',
                'downscale_confirmation',
                'policy',
                'scale_up_limit',
                'step_limit',
                'min_replicas',
                'forbidden_window',
              ] as const
            ).map((limit, index) => ({
              limit,
              from: index + 1,
              to: index + 2,
              reason: `the reason of ${limit}, which is a sentence of some length with numbers such as ${index}`,
              until: index % 2 === 0 ? addSeconds(record.at, 60 * index) : null,
            })),
          },
        },
};

/** A pause of scale-ups and scale-downs for 25 more minutes, while the load is above the target. */
export const PAUSED: Story = {
  ...HEALTHY,
  startReplicas: 3,
  samples: (round) => [podsSample(round, 3.6), totalSample(round, 90)],
  outcome: (wanted) => (wanted.kind === 'none' ? wanted : { ...wanted, kind: 'paused' }),
  change: ({ at, conditions }) => {
    const until = addSeconds(at, 1500);
    const annotated = { direction: 'both', until } as const;
    const notes = ['deploy freeze'];
    const pause: Pause = { by: 'annotation', direction: 'both', until, replicas: null, annotated, notes };
    return { pause, conditions: [...conditions, buildCondition('Held', 'Paused', pauseMessage(pause))] };
  },
};

/** A dry run that would scale up. */
export const DRY_RUN: Story = {
  ...HEALTHY,
  spec: { ...HEALTHY.spec, dryRun: true },
  startReplicas: 3,
  samples: (round) => [podsSample(round, 3.6), totalSample(round, 90)],
  outcome: (wanted) => (wanted.kind === 'none' ? wanted : { ...wanted, kind: 'dry-run' }),
  change: ({ conditions }) => ({
    dryRun: true,
    conditions: [...conditions, buildCondition('Held', 'DryRun', 'spec.dryRun is true')],
  }),
};

/** An HPA has the same target. */
export const CONFLICT: Story = {
  ...HEALTHY,
  startReplicas: 3,
  samples: (round) => [podsSample(round, 3.6), totalSample(round, 90)],
  outcome: (wanted) => (wanted.kind === 'none' ? wanted : { ...wanted, kind: 'held' }),
  change: ({ conditions }) => ({
    otherScaler: { kind: 'HorizontalPodAutoscaler', namespace: 'shop', name: 'web' },
    conditions: [
      ...conditions,
      buildCondition(
        'Held',
        'ConflictingScaler',
        'HorizontalPodAutoscaler shop/web scales the same target; promscaler patches nothing until only one autoscaler has this target',
      ),
    ],
  }),
};

/** The same minReplicas and maxReplicas, below what the load needs. */
export const FIXED: Story = {
  ...AT_MAXIMUM,
  spec: { ...AT_MAXIMUM.spec, minReplicas: 5 },
  startReplicas: 5,
};

/** The API server rejects each change for the last rounds. */
export const WRITE_FAILED: Story = {
  ...HEALTHY,
  startReplicas: 3,
  samples: (round) => [podsSample(round, 3.6), totalSample(round, 90)],
  outcome: (wanted) =>
    wanted.kind === 'none'
      ? wanted
      : { ...wanted, kind: 'failed', message: 'deployments.apps "web" is forbidden: quota exceeded' },
};

const SLEEPY: Story = {
  ...HEALTHY,
  spec: { ...HEALTHY.spec, minReplicas: 0, metrics: [QUEUE] },
  startReplicas: 0,
};

/** 0 replicas, because the queue is empty. */
export const ASLEEP: Story = { ...SLEEPY, samples: (round) => [totalSample(round, 0)] };

/** The metric has no series, which the document reads as 0. */
export const NO_SERIES: Story = {
  ...SLEEPY,
  spec: { ...SLEEPY.spec, metrics: [{ external: { ...QUEUE.external, onMissing: 'zero' } }] },
  samples: () => [errorSample('missing', 'no series')],
};

/** Fifty times as many pods at the peak as at the start. */
export const WIDE_RANGE: Story = {
  ...HEALTHY,
  spec: { ...HEALTHY.spec, maxReplicas: 100, metrics: [QUEUE] },
  samples: (round) => [totalSample(round, Math.round(6 * 10 ** (3 * wave(round, 1.5))))],
};

/** A queue of 0, and of 3 to 2,000 entries per pod. */
export const LOG_SCALE: Story = {
  ...WIDE_RANGE,
  spec: { ...WIDE_RANGE.spec, maxReplicas: 3 },
  samples: (round) =>
    round.index % 133 < 5
      ? [totalSample(round, 0)]
      : [totalSample(round, Math.round(6 * 10 ** (3 * wave(round, 1.5))))],
};
