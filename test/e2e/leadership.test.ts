import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { ServiceProcess } from './service-process.js';
import { E2E_TIMEOUT_MS, pause, waitFor } from './waiting.js';
import { cpuDocument, describeWhereAble, itOnSimulator, startFixture } from './fixture.js';
import type { Fixture } from './fixture.js';

jest.setTimeout(E2E_TIMEOUT_MS);

/** Another replica takes over within 3 + 2 x 2.2 x 1 s; the rest is for a busy machine. */
const ELECTION =
  'leaderElection: { enabled: true, leaseDurationSeconds: 3, renewDeadlineSeconds: 2, retryPeriodSeconds: 1 }\n';
const HAND_OVER_SECONDS = 7.4;
const SLACK_SECONDS = 6;

const REASON = 'only the simulator can reject requests on demand';

const leads = async (service: ServiceProcess): Promise<boolean> =>
  (await service.metrics('promscaler_leader 1')).length === 1;

describeWhereAble('election', 'two replicas', () => {
  let fixture: Fixture;
  let leader: ServiceProcess;
  let standby: ServiceProcess;

  /** The counts that the API server has applied. */
  const patched = (): readonly number[] => fixture.history('web').map(({ replicas }) => replicas);

  beforeAll(async () => {
    fixture = await startFixture([{ name: 'web', replicas: 6, load: 3.2 }]);
    await appendFile(join(fixture.folder, 'promscaler.yaml'), ELECTION);
    await fixture.writeDocument('web.yaml', cpuDocument(fixture, 'web'));
    leader = await fixture.startService();
    await waitFor(() => leads(leader), { what: 'the first replica to lead' });
    standby = await fixture.startService();
    await waitFor(() => standby.output().includes('standing by'), { what: 'the second one to be a standby' });
  });

  afterAll(() => fixture.close());

  it('scale once: the standby is ready, sends no queries, and exposes no scaler', async () => {
    await waitFor(async () => (await leader.metrics('promscaler_metric_value{')).length > 0, {
      what: 'a value',
    });
    await waitFor(async () => (await fetch(`${standby.url}/readyz`)).status === 200, {
      what: 'the standby to be ready',
    });
    await pause(3);

    expect(await standby.metrics('promscaler_leader 0')).toHaveLength(1);
    expect(await standby.metrics('scaler="web"')).toEqual([]);
    expect(await standby.metrics('promscaler_queries_total{')).toEqual([
      'promscaler_queries_total{source="default"} 0',
    ]);
    const list = (await (await fetch(`${standby.url}/api/v1/scalers`)).json()) as { items: unknown };
    expect(list.items).toEqual([]);
    expect((await fetch(`${standby.url}/healthz`)).status).toBe(200);
  });

  it('hand over when the leader is killed while the load doubles: no count is patched twice', async () => {
    const dead = leader;
    const deadHolder = await fixture.leaseHolder();
    await dead.stop('SIGKILL');
    const killedAt = performance.now();
    fixture.setLoad('web', 6);
    const before = patched().length;

    await waitFor(() => leads(standby), { what: 'the standby to lead' });
    const seconds = (performance.now() - killedAt) / 1000;
    await waitFor(async () => (await fixture.replicas('web')) >= 10, { what: '10 replicas' });
    await pause(3);

    expect(seconds).toBeLessThan(HAND_OVER_SECONDS + SLACK_SECONDS);
    expect(await fixture.leaseHolder()).not.toBe(deadHolder);
    const counts = patched().slice(before);
    expect(new Set(counts).size).toBe(counts.length);
    expect(await standby.metrics('promscaler_current_replicas{')).toHaveLength(1);
    leader = standby;
  });

  it('hand over at once when the leader is stopped, and its series disappear', async () => {
    const next = await fixture.startService();
    await waitFor(() => next.output().includes('standing by'), { what: 'the third one to be a standby' });
    const stoppedAt = performance.now();
    const code = await leader.stop();
    await waitFor(() => leads(next), { what: 'the third one to lead' });

    expect(code).toBe(0);
    expect((performance.now() - stoppedAt) / 1000).toBeLessThan(2.2 + SLACK_SECONDS);
    expect(leader.output()).toContain('Lease released');
    await waitFor(async () => (await next.metrics('promscaler_current_replicas{')).length === 1, {
      what: 'the first decision of the third one',
    });
    leader = next;
  });

  itOnSimulator(
    REASON,
    'stop scaling within 2 s if no renewal succeeds, stay alive, and continue when the server recovers',
    async () => {
      const services = [leader, await fixture.startService()];
      await waitFor(() => services[1]?.output().includes('standing by'), {
        what: 'the fourth one to be a standby',
      });
      const { simulator } = fixture;
      if (simulator === null) throw new Error('this is a test of the simulator');
      const removeFault = simulator.faults.add({ resource: 'leases' }, { kind: 'refuse', status: 503 });
      await waitFor(() => leader.output().includes('leadership lost'), {
        what: 'the leader to be a standby',
      });
      const writes = patched().length;
      fixture.setLoad('web', 1);
      await pause(5);

      expect((await Promise.all(services.map(leads))).filter(Boolean)).toEqual([]);
      expect(await leader.metrics('scaler="web"')).toEqual([]);
      const probes = await Promise.all(services.map(({ url }) => fetch(`${url}/healthz`)));
      expect(probes.map(({ status }) => status)).toEqual([200, 200]);
      expect(patched().length).toBe(writes);

      removeFault();
      await waitFor(async () => (await Promise.all(services.map(leads))).filter(Boolean).length === 1, {
        what: 'one of them to lead again',
      });
      await waitFor(async () => (await fixture.replicas('web')) < 10, {
        what: 'a scale-down by it',
        seconds: 90,
      });
    },
  );
});
