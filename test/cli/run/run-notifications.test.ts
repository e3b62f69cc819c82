import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { type FakeServer, startServer } from '../../prometheus/fakes.js';
import { eventually } from '../../support/manual-clock.js';
import { until } from '../../support/until.js';
import { startRun } from './start-run.js';

const SECRET = 't0ken';
const DOCUMENT = `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: web, namespace: shop }
spec: { scaleTargetRef: { name: none }, minReplicas: 1, maxReplicas: 5, syncPeriodSeconds: 1 }
`;

let simulator: Simulator;
let receiver: FakeServer;

beforeEach(async () => {
  simulator = await startSimulator({ clock: SYSTEM_CLOCK, namespaces: ['shop'] });
  receiver = await startServer((response, { url }) => response.writeHead(url === '/dead' ? 404 : 200).end());
});

afterEach(async () => {
  await receiver.close();
  await simulator.close();
});

describe('a running service with receivers of notifications', () => {
  it('notifies them of a target that is missing, counts it, and prints no URL (O9, S27)', async () => {
    const config = `kubernetes: { url: '${simulator.url}' }
server: { port: 0 }
prometheus: { default: { urls: ['${receiver.url}'] } }
leaderElection: { enabled: false }
notifications:
  hook: { urlFile: url }
  dead: { url: '${receiver.url}/dead' }
`;
    const run = startRun({
      'promscaler.yaml': config,
      url: `${receiver.url}/${SECRET}\n`,
      'scalers/web.yaml': DOCUMENT,
    });
    const posts = (path: string): FakeServer['requests'] =>
      receiver.requests.filter(({ url }) => url === path);
    const bodies = (path: string) =>
      posts(path).map(
        ({ form }) =>
          JSON.parse(decodeURIComponent(String(form).replace(/=$/, '').replaceAll('+', ' '))) as {
            readonly version: number;
            readonly events: readonly unknown[];
          },
      );
    const eventsAt = (path: string) => bodies(path).flatMap(({ events }) => events);
    // On a busy machine, the two failures of the first round are sent in two requests.
    await eventually(
      () => eventsAt(`/${SECRET}`).length === 2 && eventsAt('/dead').length === 2,
      'the events',
    );
    await eventually(() => run.written.stderr.includes('failed to send notifications'), 'the log line');
    const readMetrics = async (): Promise<string> => (await fetch(`${run.url()}/metrics`)).text();
    let page = '';
    await until(async () => {
      page = await readMetrics();
      return (
        page.includes('failed_total{receiver="dead"} 2') && page.includes('sent_total{receiver="hook"} 2')
      );
    }, 'the counters');
    await run.stop();

    const failureOf = (subject: string, message: RegExp): object => {
      return {
        namespace: 'shop',
        scaler: 'web',
        subject,
        failing: true,
        message: expect.stringMatching(message),
      };
    };
    expect(bodies(`/${SECRET}`).map(({ version }) => version)).toContain(1);
    expect(eventsAt(`/${SECRET}`)).toMatchObject([
      failureOf('AbleToScale', /^FailedGetScale: /),
      failureOf('ScalingActive', /^FailedGetResourceMetric: /),
    ]);
    expect(page).toContain('promscaler_notifications_sent_total{receiver="hook"} 2');
    expect(page).toContain('promscaler_notifications_failed_total{receiver="dead"} 2');
    expect(page).toContain('promscaler_notifications_dropped_total{receiver="dead"} 0');
    expect(`${run.written.stderr}${page}`).not.toContain(SECRET);
    expect(`${run.written.stderr}${page}`).not.toContain('/dead');
  });
});
