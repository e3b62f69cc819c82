import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { buildCondition } from '../../../src/decision/result/condition.js';
import { decided, unread } from '../../telemetry/state-records.js';
import type { ValidationReport } from '../../../src/cli/commands/run-validate.js';
import type { Problem } from '../../../src/scaler/problems/problem.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { createRecords } from '../../../src/telemetry/records.js';
import { ManualClock } from '../../support/manual-clock.js';
import { apiServer, appOf, cpuSnapshot, listen, recordOf, serviceIn } from '../live-service.js';
import { folderOf, runCli } from '../fake-io.js';
import {
  clusterOfWeb,
  diagnosed,
  document,
  metric,
  prometheus,
  runDoctor,
  serviceConfig,
} from './fixture.js';
import { conflictWith } from '../../telemetry/record-builder.js';

let simulator: Simulator;
let url: string;

beforeAll(async () => {
  ({ simulator } = await clusterOfWeb());
  ({ url } = await prometheus([[/./, 7]]));
});

const WEB = document('web', metric('external', 'sum(mails)'));
/** A document with a warning. */
const API = document('api', `  cooldownSeconds: 60\n${metric('external', 'sum(mails)')}`);
const WRONG = WEB.replace('maxReplicas', 'maxReplica').replace('name: web,', 'name: wrong,');

describe('doctor for one scaler', () => {
  it('reports its own warnings, and none of other scalers', async () => {
    const of = async (key: string): Promise<readonly string[]> =>
      (
        await diagnosed({
          prometheus: url,
          kubernetes: simulator.url,
          documents: { web: WEB, api: API, wrong: WRONG },
          args: [key],
        })
      )
        .of('config')
        .map(({ message }) => message);

    expect(await of('shop/web')).toEqual([]);
    expect(await of('shop/api')).toEqual([expect.stringContaining('spec.cooldownSeconds has no effect')]);
  });

  it.each([
    ['gone', { web: WEB }, 'there is no document of scaler shop/gone'],
    ['wep', { web: WEB }, 'there is no document of scaler shop/wep; similar: shop/web'],
  ])('without a document in effect says why: %s', async (name, documents, expected) => {
    const { exitCode, stderr } = await runDoctor({
      prometheus: url,
      kubernetes: simulator.url,
      documents,
      args: [`shop/${name}`],
    });

    expect(exitCode).toBe(2);
    expect(stderr).toContain(expected);
  });

  it.each([
    [
      'wrong',
      WRONG,
      expect.stringMatching(/wrong\.yaml:\d+:\d+: spec\.maxReplica is not a known field/),
      'correct the document; promscaler validate ',
    ],
    [
      'open',
      'kind: [',
      expect.stringContaining('open.yaml:1:'),
      'correct the document; promscaler validate ',
    ],
  ])(
    'reports file, line and fix of a rejected document, and exits with 1: %s',
    async (name, text, message, fix) => {
      const diagnosis = await diagnosed({
        prometheus: url,
        kubernetes: simulator.url,
        documents: { web: WEB, [name]: text },
        config: 'server: { port: 1 }',
        args: [`shop/${name}`],
      });

      expect(diagnosis.exitCode).toBe(1);
      expect(diagnosis.of('config')).toContainEqual(
        expect.objectContaining({ status: 'failed', message, fix: expect.stringContaining(fix) }),
      );
      expect(diagnosis.of('config')).toContainEqual(
        expect.objectContaining({
          subject: `shop/${name}`,
          status: 'skipped',
          message: expect.stringContaining('no version in effect is checked: '),
        }),
      );
      expect(diagnosis.of('target')).toEqual([]);
    },
  );

  it('says in the check of all scalers that the version in effect of a rejected document is not known', async () => {
    const { of } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: WEB, wrong: WRONG },
      config: 'server: { port: 0 }',
    });

    expect(of('config').filter(({ status }) => status === 'skipped')).toMatchObject([
      {
        subject: 'shop/wrong',
        message: expect.stringMatching(/^no version in effect is checked: no Service with the label/),
      },
    ]);
  });

  it.each([
    ['shop/web', ['shop/web']],
    ['all scalers', []],
  ])('checks the last valid version, which the service has in effect, of %s', async (_what, args) => {
    const { ledger } = createRecords(new ManualClock());
    ledger.add(recordOf(cpuSnapshot(60)));
    const service = await listen(appOf(ledger));

    const { exitCode, results } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: WRONG.replace('name: wrong,', 'name: web,') },
      config: `server: { port: ${new URL(service.url).port} }`,
      args,
    });
    await service.close();

    expect(exitCode).toBe(1);
    const of = (check: string): object | undefined =>
      results.find((one) => one.check === check && one.subject === 'shop/web');
    expect(of('config')).toMatchObject({
      status: 'ok',
      message: `the last valid version of the document is checked, which is in effect at the service at ${service.url}`,
    });
    expect(of('requests')).toMatchObject({ status: 'ok' });
    expect(of('query')).toMatchObject({ status: 'failed' });
  });

  it.each([
    [conflictWith(['kubectl'], 'kubectl changed spec.replicas'), 1],
    [undefined, 0],
  ])('reports a conflict with another client as the service does: %j', async (conflictingWriter, count) => {
    const { ledger } = createRecords(new ManualClock());
    ledger.add(recordOf(cpuSnapshot(60), { conflictingWriter }));
    const service = await listen(appOf(ledger));

    const { of } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: WEB },
      config: `server: { port: ${new URL(service.url).port} }`,
      args: ['shop/web'],
    });
    await service.close();

    const found = of('replicas-writer');
    expect(found).toHaveLength(count);
    if (conflictingWriter === undefined) return;
    expect(found).toMatchObject([{ status: 'failed', message: 'kubectl changed spec.replicas' }]);
    expect(found[0]?.fix).toMatch(
      /^If a person sets the count \(kubectl scale\), pause the scaler first, or .*; Stop scaling /,
    );
  });

  it('reports it as validate --live does, unless the document has another target', async () => {
    const { ledger } = createRecords(new ManualClock());
    const conflictingWriter = conflictWith(['kubectl'], 'kubectl changed spec.replicas');
    ledger.add(recordOf(cpuSnapshot(60), { conflictingWriter }));
    const service = await listen(appOf(ledger));
    const cwd = folderOf({
      'promscaler.yaml': serviceConfig({
        prometheus: url,
        kubernetes: simulator.url,
        config: `server: { port: ${new URL(service.url).port} }`,
      }),
      'web.yaml': WEB,
      'api.yaml': WEB.replace('{ name: web }', '{ name: api }'),
    });
    const writers = async (...args: readonly string[]) => {
      const { stdout } = await runCli(['validate', ...args, '--live', '-o', 'json'], { cwd });
      const { live } = JSON.parse(stdout) as ValidationReport;
      return live?.results.flatMap(({ check, status }) => (check === 'replicas-writer' ? [status] : []));
    };

    const of = [
      await writers('web.yaml', '--config', 'promscaler.yaml'),
      await writers('api.yaml', '--config', 'promscaler.yaml'),
      await writers('web.yaml', '--prometheus', url, '--url', simulator.url),
    ];
    await service.close();
    expect(of).toEqual([['failed'], ['skipped'], ['ok']]);
  });

  it('reports a target as deleted if the service has read it before, and as missing if not', async () => {
    const messages: (string | null | undefined)[] = [];
    for (const absence of ['deleted', 'missing'] as const) {
      const message = `reading deployment shop/web-1: 404 Not Found: the object was ${absence}`;
      const failed = buildCondition('AbleToScale', 'FailedGetScale', message);
      const targetFailure = { absence, suggestion: null, unusableKind: null };
      const { ledger } = createRecords(new ManualClock());
      const { scaler } = decided({ spec: { scaleTargetRef: { name: 'web-1' } } })('shop-web');
      ledger.add(unread(failed, { scaler, targetFailure })('shop-web'));
      const service = await listen(appOf(ledger));
      const { of } = await diagnosed({
        prometheus: url,
        kubernetes: simulator.url,
        // `shop/web` exists, and no scaler has it as its target.
        documents: {
          web: WEB.replace('name: web,', 'name: shop-web,').replace('name: web }', 'name: web-1 }'),
        },
        config: `server: { port: ${new URL(service.url).port} }`,
        args: ['shop/shop-web'],
      });
      await service.close();
      const [found] = of('target');
      messages.push(found?.message, found?.fix);
    }

    expect(messages).toEqual([
      'reading deployment shop/web-1: 404 Not Found: the object was deleted',
      expect.stringMatching(
        /^Create the Deployment web-1 again; If the workload is no longer needed, remove shop\/shop-web from /,
      ),
      'deployment shop/web-1 does not exist',
      'spec.scaleTargetRef.name: web',
    ]);
  });

  it('checks the generation in effect, which it names, also of a scaler whose target the service cannot read', async () => {
    const { ledger } = createRecords(new ManualClock());
    ledger.add(unread(buildCondition('AbleToScale', 'FailedGetScale', 'gone'))('web'));
    const generationsOf = () => ({ generation: 4, newestGeneration: 5 });
    const service = await listen(appOf(ledger, {}, { generationsOf }));

    const { results } = await diagnosed({
      prometheus: url,
      kubernetes: simulator.url,
      documents: { web: WRONG.replace('name: wrong,', 'name: web,') },
      config: `server: { port: ${new URL(service.url).port} }`,
      args: ['shop/web'],
    });
    await service.close();

    expect(results.map(({ message }) => message)).toContain(
      `generation 4 of the document is checked, which is in effect at the service at ${service.url}; generation 5 is rejected`,
    );
  });

  it('says once that no version is in effect, without the errors that it has already printed', async () => {
    const problem: Problem = {
      code: 'unknown-field',
      severity: 'error',
      message: 'spec.maxReplica is not a known field',
      file: 'web.yaml',
      place: null,
      path: 'spec.maxReplica',
      sourceLine: null,
      scaler: 'shop/web',
    };
    const app = appOf(createLedger(), {}, { problems: () => [problem] });
    const [service, proxy] = [await listen(app), await listen(apiServer(app, [serviceIn('monitoring')]))];

    const { results } = await diagnosed({
      prometheus: url,
      kubernetes: proxy.url,
      documents: { web: WRONG.replace('name: wrong,', 'name: web,') },
      config: `server: { port: ${new URL(service.url).port} }`,
      args: ['shop/web'],
    });
    await Promise.all([service.close(), proxy.close()]);

    expect(results.filter(({ status, check }) => status === 'skipped' && check === 'config')).toMatchObject([
      {
        message:
          'no version in effect is checked: the document of shop/web is rejected, and no valid version is in effect',
      },
    ]);
  });

  it('reads the version in effect through the API server if the service does not run here', async () => {
    const { ledger } = createRecords(new ManualClock());
    ledger.add(recordOf(cpuSnapshot(60)));
    const proxy = await listen(apiServer(appOf(ledger), [serviceIn('monitoring')]));

    const { results } = await diagnosed({
      prometheus: url,
      kubernetes: proxy.url,
      documents: { web: WRONG.replace('name: wrong,', 'name: web,') },
      config: 'server: { port: 1 }',
      args: ['shop/web'],
    });
    await proxy.close();

    expect(results.filter((one) => one.check === 'config' && one.subject === 'shop/web')).toMatchObject([
      {
        status: 'ok',
        message:
          'the last valid version of the document is checked, which is in effect at service monitoring/promscaler',
      },
    ]);
    expect(results).toContainEqual(expect.objectContaining({ check: 'query', subject: 'shop/web' }));
  });
});
