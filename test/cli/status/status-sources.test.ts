import type { RequestListener } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { VERSION } from '../../../src/cli/output/version.js';
import { failed } from '../../../src/units/failure.js';
import { createApp } from '../../../src/server/app.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { dataSourceId } from '../../../src/telemetry/outages.js';
import { createServiceHealth } from '../../../src/telemetry/service-health.js';
import { ManualClock } from '../../support/manual-clock.js';
import { partsOf } from '../../server/app-parts.js';
import { runCli } from '../fake-io.js';
import { serveApp } from './status-fixture.js';

const MESSAGE = 'connect ECONNREFUSED 10.0.0.7:9090\u001b[2J';
const LINE =
  'promscaler: data source other (http://other:9090) has failed since 00:00:00: connect ECONNREFUSED 10.0.0.7:9090';

/** A service whose data source `other` fails. */
function failingApp(): RequestListener {
  const clock = new ManualClock();
  const start = clock.now();
  const since = (id: string): typeof start | null => (id === dataSourceId('other') ? start : null);
  const health = createServiceHealth(clock, ['default', 'other'], { since });
  const query = { seconds: 0.1, failure: null };
  health.observeQuery({ ...query, source: 'default' });
  clock.advance(60_000);
  health.observeQuery({ ...query, source: 'other', failure: failed('connection', MESSAGE) });
  const parts = partsOf({ ledger: createLedger() }, { api: { version: VERSION } });
  return createApp({ ...parts, service: { ...parts.service, health } });
}

describe('status of a service with a data source that fails', () => {
  it('names it on standard error with URL, first failure and error, without control characters', async () => {
    const { exitCode, stderr } = await runCli(['status', '--url', await serveApp(failingApp())], {
      clock: new ManualClock(),
    });

    expect(exitCode).toBe(0);
    expect(stderr.split('\n')[0]).toContain(LINE);
    expect(stderr).not.toContain('\u001b');
    expect(stderr).not.toContain('data source default');
  });

  it('lists all data sources in JSON', async () => {
    const { stdout } = await runCli(['status', '-o', 'json', '--url', await serveApp(failingApp())]);

    expect(JSON.parse(stdout)).toMatchObject({
      dataSources: [
        { name: 'default', failingSince: null, lastError: null },
        {
          name: 'other',
          urls: ['http://other:9090'],
          failingSince: '2026-01-01T00:00:00Z',
          lastError: { at: '2026-01-01T00:01:00Z' },
        },
      ],
    });
  });

  it('prints no line, and null in JSON, for a service that does not report them', async () => {
    const app: RequestListener = (request, response) => {
      response.setHeader('Content-Type', 'application/json');
      const isList = request.url === '/api/v1/scalers';
      response.statusCode = isList ? 200 : 404;
      response.end(
        JSON.stringify(
          isList ? { version: VERSION, leader: true, items: [], continue: null } : { error: '' },
        ),
      );
    };

    const { exitCode, stdout } = await runCli(['status', '-o', 'json', '--url', await serveApp(app)]);

    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { dataSources: null }]);
  });
});
