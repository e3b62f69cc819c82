import { spawnSync } from 'node:child_process';
import { expect, it, jest } from '@jest/globals';
import { findPromtool } from '../programs/find-programs.js';
import { createLedger } from '../../src/telemetry/ledger.js';
import { failed } from '../../src/units/failure.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { at } from '../support/builders.js';
import { condition, decision, limitStep, metricsOf, record, scaler } from './record-builder.js';

// The first run on a machine downloads 20 MB into the cache.
jest.setTimeout(300_000);

it('promtool check metrics reports nothing for a page with the process, 2 scalers and each kind of observation', async () => {
  const promtool = await findPromtool({ env: process.env, clock: SYSTEM_CLOCK });
  const ledger = createLedger();
  const metrics = metricsOf(ledger, { process: true });
  for (const name of ['web', 'api']) {
    const limits = [limitStep({ until: at(300) })];
    ledger.add(
      record({
        scaler: scaler(name),
        decision: decision({ limits }),
        conditions: [Object.assign(condition(), { reason: 'a "quoted"\nreason' })],
        state: { lastScaleUp: at(-60) },
      }),
    );
  }
  metrics.observeQuery({
    source: 'default',
    seconds: 1,
    failure: failed('timeout', 'late'),
    clockAheadSeconds: -2.5,
  });
  metrics.observeKubernetesRequest({ verb: 'get', resource: 'pods', code: '200', seconds: 0.1 });
  metrics.observeSync(0.1);
  metrics.observeLateness(0.1);

  const checked = spawnSync(promtool, ['check', 'metrics'], {
    input: Buffer.concat([...(await metrics.render())]),
    encoding: 'utf8',
  });

  expect({ status: checked.status, said: `${checked.stdout}${checked.stderr}` }).toEqual({
    status: 0,
    said: '',
  });
});
