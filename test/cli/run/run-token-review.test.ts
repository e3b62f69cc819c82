import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { until } from '../../support/until.js';
import { EXTERNAL_METRIC, scalerYaml } from '../../support/scaler-yaml.js';
import { type StartedRun, startRun } from './start-run.js';

const EVERYTHING = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
const READ = { apiGroups: ['promscaler.dev'], resources: ['scalers'], verbs: ['get'] };
/** By token: the service, one user for each namespace, and one who may read both. */
const RBAC = {
  service: { user: 'system:serviceaccount:ops:promscaler', rules: [EVERYTHING] },
  ann: { user: 'ann', rules: [{ ...READ, namespaces: ['shop'] }] },
  bob: { user: 'bob', rules: [{ ...READ, namespaces: ['pay'] }] },
  eve: { user: 'eve', rules: [READ] },
};
const NAMESPACES = ['shop', 'pay'];

let simulator: Simulator;
let run: StartedRun;

beforeEach(async () => {
  simulator = await startSimulator({
    clock: SYSTEM_CLOCK,
    rbac: RBAC,
    workloads: NAMESPACES.map((namespace) => ({ namespace, name: 'web', replicas: 3 })),
  });
  const documents = NAMESPACES.map((namespace) =>
    scalerYaml({ namespace, maxReplicas: 5, metrics: [EXTERNAL_METRIC] }),
  );
  run = startRun({
    'promscaler.yaml': `
kubernetes: { kubeconfig: kubeconfig }
prometheus: { default: { urls: ['http://127.0.0.1:9'] } }
server: { port: 0, auth: { tokenReview: true } }
defaults: { syncPeriodSeconds: 1 }
`,
    kubeconfig: simulator.kubeconfig({ token: 'service', isForKubectl: true }),
    'scalers/all.yaml': documents.join('---\n'),
  });
  await until(async () => (await read('eve', '/api/v1/scalers')).text.split('"name":"web"').length > 2);
});

afterEach(async () => {
  await run.stop();
  await simulator.close();
});

async function read(token: string | null, path: string): Promise<{ status: number; text: string }> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  try {
    const response = await fetch(`${run.url()}${path}`, { headers });
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: 0, text: '' };
  }
}

describe('run, with server.auth.tokenReview', () => {
  it('shows each of two users the namespace that RBAC lets the user read, and nothing of the other', async () => {
    const other = { ann: 'pay', bob: 'shop' } as const;
    for (const [token, hidden] of Object.entries(other)) {
      const visible = hidden === 'pay' ? 'shop' : 'pay';
      for (const path of ['/api/v1/scalers', '/api/v1/overview', '/api/v1/service']) {
        const { status, text } = await read(token, path);
        expect([path, status, text.includes(`"namespace":"${hidden}"`)]).toEqual([path, 200, false]);
        if (path !== '/api/v1/service') expect(text).toContain(`"namespace":"${visible}"`);
      }
      const own = await read(token, `/api/v1/scalers/${visible}/web`);
      const foreign = await read(token, `/api/v1/scalers/${hidden}/web`);
      const unknown = await read(token, `/api/v1/scalers/${hidden}/none`);
      expect([own.status, foreign.status]).toEqual([200, 404]);
      expect(foreign.text.replace('/web', '/none')).toBe(unknown.text);
      const service = JSON.parse((await read(token, '/api/v1/service')).text) as {
        readonly replicas: readonly { readonly scalers: number }[];
      };
      expect(service.replicas[0]?.scalers).toBe(1);
    }
  });

  it('sends each user the events of that namespace only', async () => {
    const end = new AbortController();
    const streams = await Promise.all(
      ['ann', 'bob'].map(async (token) => {
        const headers = { authorization: `Bearer ${token}` };
        const { body } = await fetch(`${run.url()}/api/v1/events`, { headers, signal: end.signal });
        const chunks: ReadableStream<Uint8Array> | null = body;
        return chunks?.getReader();
      }),
    );
    for (const namespace of NAMESPACES) simulator.setReplicas({ namespace, name: 'web' }, 0);
    const texts = await Promise.all(
      streams.map(async (reader) => {
        let text = '';
        while (!text.includes('"subject":"ScalingActive"'))
          text += new TextDecoder().decode((await reader?.read())?.value);
        return text;
      }),
    );
    end.abort();

    expect(texts.map((text) => [text.includes('"shop"'), text.includes('"pay"')])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it.each([
    [null, 401],
    ['unknown', 401],
    ['a b', 401],
  ])('answers the token %j with %d', async (token, status) => {
    expect((await read(token, '/api/v1/scalers')).status).toBe(status);
    expect((await read(token, '/api/v1/events')).status).toBe(status);
    expect((await read(token, '/healthz')).status).toBe(200);
  });
});
