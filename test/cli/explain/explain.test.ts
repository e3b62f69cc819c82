import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { explainLines } from '../../../src/cli/explanation/explain-lines.js';
import { decide } from '../../../src/decision/decide.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { ManualClock } from '../../support/manual-clock.js';
import { conflictWith } from '../../telemetry/record-builder.js';
import { folderOf, runCli } from '../fake-io.js';
import {
  appOf,
  cpuSnapshot,
  explainSnapshot,
  listen,
  readyPod,
  recordOf,
  scalerDocument,
} from '../live-service.js';
import type { Listening } from '../live-service.js';

describe('explain --snapshot', () => {
  it('prints all facts of a scale-up from 4 to 6 for cpu at 83 % of 60 %', async () => {
    const text = await explainSnapshot(cpuSnapshot(83));

    expect(text).toBe(`shop/web  scales up from 4 to 6  (Deployment web, bounds 2 to 10)
decided at 2026-01-01T00:00:00Z: cpu is at 83 % of the requests, target 60 %: 4 -> 6

Metrics
  cpu (Resource): 83 % of the requests, target 60 % - proposes 6
    query   the resource query of source default for cpu
    answer  value, 15 s old, over 120 s, of 4 pods
    pods    4 ready
    count   83 % / 60 % = 1.3833, ceil(1.3833 x 4 ready pods) = 6

Limits: none changed the recommendation of 6

Restrictions: none

Conditions
  AbleToScale     True   ReadyForNewScale: no stabilization window changes the recommendation
  ScalingLimited  False  DesiredWithinRange: the desired count is within the acceptable range
  ScalingActive   True   ValidMetricFound: the replica count was calculated from Resource metric cpu

Last scale-up: none by this scaler; last scale-down: none by this scaler
`);
  });

  it('prints as many decimals of a ratio as its count needs: 1 for 0.005 / 500', async () => {
    const external = { metric: { name: 'load' }, query: 'load', target: { value: 500 } };

    const text = await explainSnapshot(
      cpuSnapshot(0, {
        scaler: scalerDocument({ metrics: [{ external }] }),
        samples: [{ at: '2026-01-01T00:00:00Z', values: [0.005] }],
      }),
    );

    expect(text).toContain('count   0.005 / 500 = 0.00001, ceil(0.00001 x 4 ready pods) = 1\n');
  });

  it('names 5 of 7 pending pods and counts the other 2', async () => {
    const pending = Array.from({ length: 7 }, (_, index) => ({ name: `p${index}`, phase: 'Pending' }));

    const text = await explainSnapshot(cpuSnapshot(30, { pods: [readyPod('a'), ...pending] }));

    expect(text).toContain('pods    1 ready, 7 unready\n');
    expect(text).toContain('unready, pending: p0, p1, p2, p3, p4 and 2 more\n');
  });

  it('prints how 1 missing pod, assumed at its full request, slows a scale-down, 30 % of 60 %', async () => {
    const text = await explainSnapshot(cpuSnapshot(30, { pods: ['a', 'b', 'c', 'd', 'e'].map(readyPod) }));

    expect(text).toContain('missing, no sample: e\n');
    expect(text).toContain(
      'count   30 % / 60 % = 0.5 over 4 ready pods, with 1 missing pod counted at the target value: 0.7333, ceil(0.7333 x 5 pods) = 4\n',
    );
  });

  it('prints that 65 % of 60 % is within the tolerance of 10 %', async () => {
    expect(await explainSnapshot(cpuSnapshot(65))).toContain(
      'count   65 % / 60 % = 1.0833, within the tolerance of 10 %: stays at 4\n',
    );
  });

  it.each([
    ['missing', { error: 'no series', kind: 'missing' }, 'missing: no series'],
    ['failed', { error: 'timeout after 10000 ms' }, 'failed: timeout after 10000 ms'],
  ])('prints an answer of class %s, and that it holds the count', async (_, sample, answer) => {
    const text = await explainSnapshot(cpuSnapshot(0, { samples: [sample] }));

    expect(text).toContain('cpu (Resource): no value, target 60 % - no proposal\n');
    expect(text).toContain(`answer  ${answer}\n`);
    expect(text).toContain('no value  until a metric has a value\n');
  });

  it('prints that the fallback of a metric without a value comes, and when', async () => {
    const metrics = [{ resource: { name: 'cpu', target: { averageUtilization: 60 } } }];
    const text = await explainSnapshot(
      cpuSnapshot(0, {
        scaler: scalerDocument({ metrics, fallback: { afterSeconds: 180, replicas: 9 } }),
        samples: [{ error: 'no series', kind: 'missing' }],
        state: { failingSince: { 'Resource/cpu': '2025-12-31T23:59:00Z' } },
      }),
    );

    expect(text).toContain(
      'answer  missing: no series (since Dec 31, 23:59:00); from 00:02:00 on, the fallback (atLeast) proposes 9 replicas\n',
    );
    expect(text).toContain('no value  until a metric has a value, or until 00:02:00, in 2m: the fallback\n');
  });

  it('prints the query, the selector and a partial answer that cannot cause a scale-down', async () => {
    const external = {
      metric: { name: 'queue', selector: { matchLabels: { queue: 'checkout' } } },
      query: 'sum by (queue) (\n  messages\n)',
      target: { averageValue: 30 },
    };

    const text = await explainSnapshot(
      cpuSnapshot(0, {
        scaler: scalerDocument({ metrics: [{ external }] }),
        samples: [{ at: '2026-01-01T00:00:00Z', values: [40, 20], partial: 'a warning' }],
      }),
    );

    expect(text).toContain('query   sum by (queue) ( messages ), series with queue=checkout\n');
    expect(text).toContain(
      'answer  partial (a warning: the metric can scale up but not down), 0 s old, 2 series\n',
    );
    expect(text).toContain('count   ceil(60 / 30) = 2\n');
    expect(text).toContain('1. untrusted_metric  2 -> 4  queue: a warning\n');
  });

  it('prints the guard and the freshness of a metric, and which of them failed', async () => {
    const external = {
      metric: { name: 'queue' },
      query: 'sum(messages)',
      target: { averageValue: 30 },
      guard: 'count(\n  up == 1\n) >= 1',
      freshness: { query: 'max(timestamp(messages))', maxAgeSeconds: 120 },
    };
    const error = 'the guard is not true: no series';

    const text = await explainSnapshot(
      cpuSnapshot(0, {
        scaler: scalerDocument({ metrics: [{ external }] }),
        samples: [{ error, kind: 'missing' }],
      }),
    );

    expect(text).toContain('check   count( up == 1 ) >= 1 must be true\n');
    expect(text).toContain('check   max(timestamp(messages)) must be at most 120 s in the past\n');
    expect(text).toContain(`answer  missing: ${error}\n`);
  });

  it('prints no metric if 12 replicas are above a maximum of 10', async () => {
    const text = await explainSnapshot(cpuSnapshot(83, { target: { specReplicas: 12 } }));

    expect(text).toContain('Metrics: none evaluated');
    expect(text).toContain('1. max_replicas  12 -> 10  12 replicas are above maxReplicas (10)\n');
  });

  it('prints pause, dry run, recovery hold and a window that does not affect this decision', async () => {
    const text = await explainSnapshot(
      cpuSnapshot(65, {
        scaler: scalerDocument({ paused: true, dryRun: true, downscaleForbiddenWindowSeconds: 60 }),
        state: {
          lastScaleDown: '2025-12-31T23:59:40Z',
          holdScaleDownUntil: '2026-01-01T00:02:00Z',
          holdReason: 'cpu came back',
        },
      }),
    );

    expect(text).toContain(`Restrictions
  Paused         spec.paused is true: nothing is patched
  DryRun         spec.dryRun is true: nothing is patched
  no scale-down  until 00:02:00, in 2m: cpu came back
  no scale-down  until 00:00:40, in 40s: the downscale forbidden window
`);
    expect(text).toContain('last scale-down: Dec 31, 23:59:40 (20s ago)\n');
  });

  it('prints decision and snapshot as JSON, without a status', async () => {
    const directory = folderOf({ 'one.json': JSON.stringify(cpuSnapshot(83)) });

    const { stdout } = await runCli(['explain', '--snapshot', 'one.json', '-o', 'json'], { cwd: directory });

    expect(JSON.parse(stdout)).toMatchObject({
      decision: { desiredReplicas: 6 },
      snapshot: { now: '2026-01-01T00:00:00Z' },
      status: null,
    });
  });

  it.each([
    [['explain'], 2, 'explain needs a scaler (NAMESPACE/NAME), --snapshot FILE or --file FILE'],
    [['explain', 'deploy/web', '-n', 'shop'], 2, 'Use the name of a scaler, such as web -n shop'],
    [['explain', 'a/b/c'], 2, 'a/b/c is not a valid scaler: use NAMESPACE/NAME, such as shop/web'],
    [['explain', 'a/b', '--snapshot', '-'], 2, 'either NAMESPACE/NAME or --snapshot FILE'],
    [['explain', '--snapshot', 'gone.json'], 1, 'reading gone.json: no such file or directory'],
    [['explain', '--snapshot', '-'], 1, 'standard input is not a snapshot: it is not JSON'],
    [['explain', '--snapshot', '/dev/null'], 1, '/dev/null: this is a pipe, socket or device'],
    [['explain', '--snapshot', '-', '-o', 'wide'], 2, '-o is wide, must be one of text, json, yaml'],
  ])('%j ends with %i and an explanation', async (argv, exitCode, sentence) => {
    const ran = await runCli(argv, { stdin: '{' });

    expect([ran.exitCode, ran.stdout]).toEqual([exitCode, '']);
    expect(ran.stderr).toContain(sentence);
  });
});

const VECTORS = join(import.meta.dirname, '../../vectors');

describe('every vector', () => {
  it.each(readdirSync(VECTORS).filter((name) => name.endsWith('.json')))(
    'of %s has a complete explanation, with each sum resulting in its proposal',
    (file) => {
      const vectors = JSON.parse(readFileSync(join(VECTORS, file), 'utf8')) as readonly {
        readonly name: string;
        readonly snapshot: unknown;
      }[];

      const holes = vectors.flatMap(({ name, snapshot: json }) => {
        const snapshot = parseSnapshot(json);
        const decision = decide(snapshot);
        const text = explainLines({ snapshot, decision, status: null, now: snapshot.now }).join('\n');
        return /undefined|NaN|Infinity|\[object|a ratio of/.test(
          text.replace(/value (?:is )?(?:NaN|-?Infinity)|is NaN|onNaN/g, ''),
        )
          ? [name]
          : [];
      });

      expect(holes).toEqual([]);
    },
  );
});

describe('explain NAMESPACE/NAME', () => {
  let service: Listening | null = null;

  afterEach(() => service?.close());

  it('prints the decision of 20 s ago and its outcome', async () => {
    const ledger = createLedger();
    const patched = { kind: 'patched', from: 4, to: 6, message: '' } as const;
    ledger.add(recordOf(cpuSnapshot(83), { outcome: patched }));
    service = await listen(appOf(ledger));
    const clock = new ManualClock('2026-01-01T00:00:20Z');

    const { exitCode, stdout } = await runCli(['explain', 'shop/web', '--url', service.url], { clock });

    expect(exitCode).toBe(0);
    expect(stdout).toContain('decided at 2026-01-01T00:00:00Z, 20s ago: cpu is at 83 %');
    expect(stdout).toContain('ceil(1.3833 x 4 ready pods) = 6\n');
    expect(stdout).toContain('  AbleToScale     True   for 20s  ReadyForNewScale: ');
    expect(stdout).toContain('Outcome: patched 4 -> 6\nLast scale-up: 00:00:00 (20s ago);');
    expect(stdout).not.toContain('Remark');
  });

  it('names the client that reverts the replicas', async () => {
    const ledger = createLedger();
    const conflictingWriter = conflictWith(['kubectl'], 'kubectl does it');
    ledger.add(recordOf(cpuSnapshot(83), { conflictingWriter }));
    service = await listen(appOf(ledger));

    const { stdout } = await runCli(['explain', 'shop/web', '--url', service.url]);

    expect(stdout).toContain('\nConflicting writer: kubectl does it\n');
  });

  it('prints the decision of the service, the snapshot and the status as JSON', async () => {
    const ledger = createLedger();
    ledger.add(recordOf(cpuSnapshot(83)));
    service = await listen(appOf(ledger));

    const { stdout } = await runCli(['explain', 'shop/web', '--url', service.url, '-o', 'json']);

    const { status, ...rest } = JSON.parse(stdout) as { status: object };
    expect(rest).toMatchObject({
      decision: { desiredReplicas: 6 },
      snapshot: { target: { specReplicas: 4 } },
    });
    expect(Object.keys(status)).not.toContain('document');
  });

  it.each([
    [
      'shop/wbe',
      'has no scaler shop/wbe, or the first cycle of the scaler has not finished; similar: shop/web',
    ],
    ['stage/web', 'similar: shop/web'],
    ['other/entirely-else', 'or the first cycle of the scaler has not finished; scalers: shop/web'],
  ])('lists the existing scalers for %s', async (name, sentence) => {
    const ledger = createLedger();
    ledger.add(recordOf(cpuSnapshot(83)));
    service = await listen(appOf(ledger));

    const { exitCode, stderr } = await runCli(['explain', name, '--url', service.url]);

    expect([exitCode, stderr.includes(sentence)]).toEqual([1, true]);
  });
});

describe('explain of a Deployment without requests', () => {
  const without = (name: string): Readonly<Record<string, unknown>> => ({
    ...readyPod(name),
    requests: { app: { memory: '1Gi' }, proxy: { cpu: '100m' } },
  });

  it('starts with the container that requests no cpu, in the reason and in ScalingActive', async () => {
    const text = await explainSnapshot(cpuSnapshot(83, { pods: ['a', 'b', 'c', 'd'].map(without) }));

    expect(text).toContain(
      'decided at 2026-01-01T00:00:00Z: cpu: container app requests no cpu (pod a and 3 more): stays at 4\n',
    );
    expect(text).toContain(
      'the replica count could not be calculated from Resource metric cpu: container app requests no cpu (pod a and 3 more)\n',
    );
  });

  it('names the container whose requests of 0 have no percentage', async () => {
    const zero = (name: string) => ({
      ...readyPod(name),
      requests: { app: { cpu: '0' }, proxy: { cpu: name === 'a' ? '0' : '1' } },
    });
    const reasonOf = (pods: readonly string[]) => explainSnapshot(cpuSnapshot(83, { pods: pods.map(zero) }));

    expect(await reasonOf(['a'])).toContain(
      'decided at 2026-01-01T00:00:00Z: cpu: containers app and proxy request 0 cpu (pod a): stays at ',
    );
    expect(await reasonOf(['a', 'b'])).not.toContain('request 0 cpu');
  });

  it('starts with it also while no pod is ready: that passes, the cause remains', async () => {
    const pods = ['a', 'b'].map((name) => ({ ...without(name), phase: 'Pending', ready: false }));

    const containers = { a: { app: 0.9 }, b: { app: 0.9 } };
    const samples = [{ at: '2025-12-31T23:59:45Z', windowSeconds: 120, containers }];

    const text = await explainSnapshot(cpuSnapshot(83, { pods, samples }));

    expect(text).toContain(
      ': cpu: container app requests no cpu (pod a and 1 more); no pod that counts has a sample (pods that are not ready may be excluded): stays at 4\n',
    );
  });

  it('starts with it also before the first series, as at the first decision, whose Event stays', async () => {
    const samples = [{ error: 'no series belongs to a pod of the target', kind: 'missing' }];
    const text = await explainSnapshot(cpuSnapshot(83, { pods: ['a', 'b'].map(without), samples }));

    expect(text).toContain(
      ' cpu: container app requests no cpu (pod a and 1 more); no series belongs to a pod of the target\n',
    );
  });

  it('says from when on a ready pod counts that was ready for less than the window of 120 s', async () => {
    const young = { startTime: '2025-12-31T23:58:00Z', readyChangedAt: '2025-12-31T23:58:10Z' };
    const samples = [{ at: '2025-12-31T23:59:45Z', windowSeconds: 120, containers: { a: { app: 0.9 } } }];
    const text = await explainSnapshot(cpuSnapshot(83, { pods: [{ ...readyPod('a'), ...young }], samples }));

    expect(text).toContain('; ready pods count from 00:00:25 on');
  });

  it('names all containers of a pod without one, and no number for a single pod', async () => {
    const pod = { ...readyPod('a'), requests: { app: {}, proxy: {}, log: { cpu: '1' } } };

    expect(await explainSnapshot(cpuSnapshot(83, { pods: [pod, readyPod('b')] }))).toContain(
      ': cpu: containers app and proxy request no cpu (pod a): stays at 4\n',
    );
  });
});
