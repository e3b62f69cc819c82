import { asObject } from '../../../src/scaler/plain-json.js';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { objectIn, textsIn } from '../../../src/kubernetes/api/json.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import type { Pause } from '../../../src/decision/pause.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { kubectlFile, runKubectl } from '../../support/kubectl.js';
import { ManualClock } from '../../support/manual-clock.js';
import { runCli } from '../fake-io.js';
import type { Ran } from '../fake-io.js';
import { appOf, cpuSnapshot, listen, recordOf } from '../live-service.js';
import type { Listening } from '../live-service.js';

const rbac = {
  admin: { user: 'admin', rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
  reader: { user: 'reader', rules: [{ apiGroups: ['', 'apps'], resources: ['*'], verbs: ['get', 'list'] }] },
  nobody: { user: 'nobody', rules: [] },
};

const BY_DOCUMENT: Pause = {
  by: 'document',
  direction: 'both',
  until: null,
  replicas: null,
  annotated: null,
  notes: ['spec.paused is true'],
};

describe('pause and resume against the simulator', () => {
  let simulator: Simulator;
  let service: Listening;
  let home: string;
  let record: CycleRecord;

  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'promscaler-pause-'));
  });

  afterAll(() => rmSync(home, { recursive: true, force: true }));

  beforeEach(async () => {
    simulator = await startSimulator({
      clock: SYSTEM_CLOCK,
      rbac,
      workloads: [{ namespace: 'shop', name: 'web', replicas: 4 }],
    });
    for (const token of Object.keys(rbac))
      writeFileSync(join(home, token), simulator.kubeconfig({ token, isForKubectl: true }));
    record = recordOf(cpuSnapshot(60));
  });

  afterEach(async () => {
    await service.close();
    await simulator.close();
  });

  async function serve(overrides: Partial<CycleRecord> = {}): Promise<void> {
    const ledger = createLedger();
    ledger.add({ ...record, ...overrides });
    service = await listen(appOf(ledger));
  }

  /** Runs a command line, with the address of the service and a kubeconfig of the cluster. */
  function run(argv: readonly string[], user = 'admin'): Promise<Ran> {
    const reach = argv.includes('--target') ? [] : ['--url', service.url];
    return runCli([...argv, ...reach], {
      env: { KUBECONFIG: join(home, user), HOME: home },
      clock: new ManualClock('2026-01-01T12:00:00Z'),
    });
  }

  function annotations(): Readonly<Record<string, string>> {
    const web = asObject(simulator.getObject('apps/deployments', 'shop', 'web'));
    const all = textsIn(objectIn(web, 'metadata'), 'annotations');
    return Object.fromEntries(Object.entries(all).filter(([name]) => name.startsWith('promscaler.dev/')));
  }

  it('annotates the target that the service names, and prints what is paused and how it ends', async () => {
    await serve();

    const ran = await run(['pause', 'shop/web', '--for', '2h', '--reason', 'incident 4711']);

    expect(ran).toEqual({
      exitCode: 0,
      stdout: `shop/web is paused until 14:00:00, for 2h: deployment shop/web is not scaled from the next decision on. Decisions are still reported. Resume with \`promscaler resume shop/web --url ${service.url}\`\n`,
      stderr: '',
    });
    expect(annotations()).toEqual({
      'promscaler.dev/paused': 'true',
      'promscaler.dev/paused-until': '2026-01-01T14:00:00Z',
      'promscaler.dev/paused-reason': 'incident 4711',
    });
  });

  it('replaces an earlier pause completely', async () => {
    await serve();
    await run(['pause', 'shop/web', '--for', '2h', '--reason', 'incident 4711']);

    const { stdout } = await run(['pause', 'shop/web', '--direction', 'scale-down']);

    expect(annotations()).toEqual({ 'promscaler.dev/paused': 'scale-down' });
    expect(stdout).toContain(
      'scale-down of shop/web is paused until resume: deployment shop/web is not scaled down',
    );
  });

  it('keeps a count, does not query the service with --target, and leaves the replicas to the service', async () => {
    await serve();

    const { exitCode, stdout } = await run([
      'pause',
      'shop/web',
      '--replicas',
      '0',
      '--target',
      'deploy/web',
    ]);

    expect(exitCode).toBe(0);
    expect(stdout).toContain('deployment shop/web is set to 0 replicas and kept there');
    expect(stdout).toContain('`promscaler resume shop/web --target deploy/web`');
    expect(annotations()).toEqual({ 'promscaler.dev/paused': 'true', 'promscaler.dev/paused-replicas': '0' });
    expect(simulator.describe({ namespace: 'shop', name: 'web' }).replicas).toBe(4);
  });

  it('prints that a count is not set in dry run', async () => {
    await serve({ dryRun: true });

    const { stdout, stderr } = await run(['pause', 'shop/web', '--replicas', '3']);
    const json = await run(['pause', 'shop/web', '--replicas', '3', '-o', 'json']);

    expect(stdout).toMatch(
      /^shop\/web is paused until resume: deployment shop\/web would be kept at 3 replicas, but the dry run changes no replicas\. Decisions /,
    );
    expect(stderr).toBe('');
    expect(json.stderr).toBe(
      'promscaler: warning: deployment shop/web would be kept at 3 replicas, but the dry run changes no replicas\n',
    );
  });

  it('prints that another autoscaler goes on scaling next to a dry run', async () => {
    await serve({
      dryRun: true,
      otherScaler: { kind: 'HorizontalPodAutoscaler', namespace: 'shop', name: 'web' },
    });
    const goesOn = 'HorizontalPodAutoscaler shop/web goes on scaling';

    const paused = await run(['pause', 'shop/web']);
    const kept = await run(['pause', 'shop/web', '--replicas', '3']);
    const resumed = await run(['resume', 'shop/web']);

    expect(paused.stdout).toMatch(
      `shop/web is paused until resume: ${goesOn} deployment shop/web, because the pause applies only to promscaler. Decisions `,
    );
    expect(kept.stdout).toContain(
      `3 replicas, but the dry run changes no replicas, and ${goesOn} it. Decisions `,
    );
    expect(resumed.stdout).toBe(
      `shop/web is resumed, but remains in dry run: ${goesOn} deployment shop/web\n`,
    );
  });

  it('does not name an HPA without desired replicas, which scales nothing', async () => {
    const whyNoCount = 'FailedGetResourceMetric: no metrics';
    await serve({
      dryRun: true,
      otherScaler: { kind: 'HorizontalPodAutoscaler', namespace: 'shop', name: 'web', whyNoCount },
    });

    await run(['pause', 'shop/web']);

    expect((await run(['resume', 'shop/web'])).stdout).toBe(
      'shop/web is resumed, but remains in dry run: deployment shop/web is still not scaled\n',
    );
  });

  it.each([
    ['HorizontalPodAutoscaler', 'HorizontalPodAutoscaler shop/web goes on scaling deployment shop/web'],
    ['Scaler', 'deployment shop/web is not scaled from the next decision on'],
  ])('prints what scales in a conflict with a %s', async (kind, effect) => {
    await serve({ otherScaler: { kind, namespace: 'shop', name: 'web' } });

    expect((await run(['pause', 'shop/web'])).stdout).toContain(effect);
  });

  it('says that nothing scales the target of a dry run whose HPA has no desired replicas', async () => {
    const whyNoCount = 'the HPA controller has not set them yet';
    const otherScaler = { kind: 'HorizontalPodAutoscaler', namespace: 'shop', name: 'web', whyNoCount };
    await serve({ dryRun: true, otherScaler });

    expect((await run(['pause', 'shop/web'])).stdout).toContain(
      ': nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web has no desired replicas: the HPA controller has not set them yet. Decisions',
    );
  });

  it('prints on resume that the scaler remains in dry run', async () => {
    await serve({ dryRun: true });
    await run(['pause', 'shop/web', '--replicas', '3']);

    const { stdout } = await run(['resume', 'shop/web']);

    expect(stdout).toBe(
      'shop/web is resumed, but remains in dry run: deployment shop/web is still not scaled\n',
    );
  });

  it('removes its own annotations on resume, and no others', async () => {
    await serve();
    await run(['pause', 'shop/web', '--replicas', '3', '--for', '1h', '--reason', 'x']);
    const kubeconfig = join(home, 'admin');
    await kubectlFile();
    await runKubectl('annotate -n shop deployment/web promscaler.dev/other=1'.split(' '), {
      kubeconfig,
      home,
    });

    const ran = await run(['resume', 'shop/web']);

    expect(ran).toEqual({
      exitCode: 0,
      stdout:
        'shop/web is resumed: deployment shop/web is scaled again from the next decision on, and stabilization includes the recommendations that were made during the pause\n',
      stderr: '',
    });
    expect(annotations()).toEqual({ 'promscaler.dev/other': '1' });
  });

  it('writes what kubectl annotate writes, and removes what kubectl has written', async () => {
    await serve();
    const kubeconfig = join(home, 'admin');
    const kubectl = (line: string) => runKubectl(line.split(' '), { kubeconfig, home });
    await run(['pause', 'shop/web', '--until', '2026-01-01T13:00:00Z']);
    const ours = annotations();
    await run(['resume', 'shop/web']);

    const { code } = await kubectl(
      'annotate -n shop deployment/web promscaler.dev/paused=true promscaler.dev/paused-until=2026-01-01T13:00:00Z',
    );

    expect(code).toBe(0);
    expect(annotations()).toEqual(ours);
    expect((await run(['resume', 'shop/web'])).stdout).toContain('is resumed');
    expect(annotations()).toEqual({});
  });

  it('prints that nothing is paused, and changes nothing', async () => {
    await serve();

    const ran = await run(['resume', 'shop/web'], 'reader');

    expect(ran).toMatchObject({
      exitCode: 0,
      stdout: 'shop/web is not paused: deployment shop/web has no annotations of a pause\n',
    });
  });

  it('removes the annotations of a pause that has ended automatically, and prints that', async () => {
    await serve();
    const kubeconfig = join(home, 'admin');
    await runKubectl(
      'annotate -n shop deployment/web promscaler.dev/paused-until=2026-01-01T12:00:00Z'.split(' '),
      { kubeconfig, home },
    );

    expect((await run(['resume', 'shop/web'])).stdout).toContain('the pause of shop/web had already ended');
    expect(annotations()).toEqual({});
  });

  it('cannot resume a pause of the document: that is a failure, unless there was an annotation, too', async () => {
    await serve({ pause: BY_DOCUMENT });

    const alone = await run(['resume', 'shop/web']);
    await run(['pause', 'shop/web']);
    const both = await run(['resume', 'shop/web']);

    expect(alone).toMatchObject({ exitCode: 1, stdout: '' });
    expect(alone.stderr).toBe(
      'promscaler: shop/web is paused by its document. To end the pause, remove spec.paused from the document\n',
    );
    expect(both).toMatchObject({ exitCode: 0 });
    expect(both.stderr).toContain('shop/web is still paused by its document');
  });

  it('names verb and resource of a missing permission', async () => {
    await serve();

    const patch = await run(['pause', 'shop/web'], 'reader');
    const get = await run(['resume', 'shop/web'], 'nobody');

    expect(patch).toMatchObject({ exitCode: 1, stdout: '' });
    expect(patch.stderr).toContain('You need permission to patch deployments in namespace shop\n');
    expect(get.stderr).toContain('You need permission to get deployments in namespace shop\n');
    expect(annotations()).toEqual({});
  });

  it('suggests a similar scaler, and reports a workload that does not exist', async () => {
    await serve();

    const misspelt = await run(['pause', 'shop/wbe']);
    const missing = await run(['pause', 'shop/web', '--target', 'deployment/gone']);

    expect(misspelt.exitCode).toBe(1);
    expect(misspelt.stderr).toContain('has no scaler shop/wbe');
    expect(misspelt.stderr).toContain('similar: shop/web');
    expect(missing).toMatchObject({
      exitCode: 1,
      stderr: 'promscaler: deployment shop/gone does not exist\n',
    });
  });

  it('rejects a kind whose annotations promscaler does not read', async () => {
    await serve();

    const { exitCode, stderr } = await run(['pause', 'shop/web', '--target', 'rollout/canary']);

    expect(exitCode).toBe(1);
    expect(stderr).toContain('Set spec.paused: true in the document of shop/web');
  });

  it('rejects a time in the past before it sends a request', async () => {
    await serve();

    const { exitCode, stderr } = await run(
      ['pause', 'shop/web', '--until', '2026-01-01T11:59:59Z'],
      'nobody',
    );

    expect(exitCode).toBe(2);
    expect(stderr).toContain('is in the past: the current time is 2026-01-01T12:00:00Z');
    expect(annotations()).toEqual({});
  });

  it('prints JSON for programs', async () => {
    await serve();

    const paused = await run(['pause', 'shop/web', '--for', '90s', '-o', 'json']);
    const resumed = await run(['resume', 'shop/web', '-o', 'json']);

    const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    expect(JSON.parse(paused.stdout)).toEqual({
      namespace: 'shop',
      name: 'web',
      target,
      pause: { direction: 'both', until: '2026-01-01T12:01:30Z', replicas: null, reason: null },
    });
    expect(JSON.parse(resumed.stdout)).toEqual({
      namespace: 'shop',
      name: 'web',
      target,
      wasPaused: true,
      pause: null,
    });
  });
});
