import { beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import type { ValidationReport } from '../../../src/cli/commands/run-validate.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { send } from '../../simulator/cluster.js';
import { scalerDefinition } from '../../support/scaler-definition.js';
import { folderOf, runCli } from '../fake-io.js';
import { clusterOfWeb, document, healthy, prometheus, serviceConfig } from './fixture.js';

const METRICS = [{ resource: { name: 'cpu', target: { averageUtilization: 70 } } }];

let simulator: Simulator;
let url: string;

beforeAll(async () => {
  const web = await clusterOfWeb();
  ({ simulator } = web);
  ({ url } = await prometheus(healthy(web.pods)));
});

const files = (more: Readonly<Record<string, string>> = {}): string =>
  folderOf({
    'promscaler.yaml': serviceConfig({ prometheus: url, kubernetes: simulator.url }),
    'web.yaml': document('web'),
    ...more,
  });

describe('validate --live', () => {
  it('reports the results of Prometheus and the cluster next to those of the documents', async () => {
    const { exitCode, stdout, stderr } = await runCli(['validate', 'promscaler.yaml', 'web.yaml', '--live'], {
      cwd: files(),
    });

    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /\n1 service config, 1 document, 0 errors, 0 warnings \(checks: \d+ ok, 0 warnings, 0 failed\)\n$/,
    );
    expect(stdout).toMatch(/^ok {8}shop\/web: .*current decision/m);
  });

  it('says which service config it used, or that it used the defaults', async () => {
    const lineOf = async (...args: readonly string[]) =>
      /^ok +config: (.*)$/m.exec(
        (await runCli(['validate', ...args, '--live'], { cwd: files() })).stdout,
      )?.[1];

    expect(await lineOf('web.yaml', '--config', './promscaler.yaml')).toBe(
      './promscaler.yaml; 1 valid document',
    );
    expect(await lineOf('.')).toBe('promscaler.yaml; 1 valid document');
    expect(await lineOf('web.yaml', '--prometheus', url, '--url', simulator.url)).toBe(
      'without --config, every field of the service config has its default; 1 valid document',
    );
  });

  it('exits with 1 if a check fails, although no document has an error', async () => {
    const cwd = files({ 'wbe.yaml': document('wbe') });

    const { exitCode, stdout } = await runCli(
      ['validate', 'wbe.yaml', '--config', 'promscaler.yaml', '--live', '-o', 'json'],
      { cwd },
    );

    const { errors, live } = JSON.parse(stdout) as ValidationReport;
    expect([exitCode, errors, live?.failed]).toEqual([1, 0, 1]);
    expect(live?.results.find(({ status }) => status === 'failed')).toMatchObject({
      subject: 'shop/wbe',
      check: 'target',
      fix: 'create deployment shop/wbe, correct spec.scaleTargetRef, or delete this document',
    });
  });

  it('names the Scaler object of another namespace that scales the target, and not that namespace', async () => {
    const scaler = (namespace: string): JsonObject => ({
      apiVersion: 'promscaler.dev/v1',
      kind: 'Scaler',
      metadata: { namespace, name: 'only-here' },
      spec: { scaleTargetRef: { name: 'web' }, maxReplicas: 5, metrics: METRICS },
    });
    const { simulator: other } = await clusterOfWeb();
    other.addObject(scalerDefinition());
    other.addObject(scaler('shop'));
    const cwd = folderOf({
      'promscaler.yaml': serviceConfig({ prometheus: url, kubernetes: other.url }),
      'wrong.yaml': stringify(scaler('team-b')),
    });

    const { stdout } = await runCli(
      ['validate', 'wrong.yaml', '--config', 'promscaler.yaml', '--live', '-o', 'json'],
      { cwd },
    );

    const { live } = JSON.parse(stdout) as ValidationReport;
    expect(
      live?.results.find(({ check, status }) => check === 'target' && status === 'failed'),
    ).toMatchObject({
      message:
        'deployment team-b/web does not exist; deployment shop/web exists, but Scaler shop/only-here scales it',
      fix: 'create deployment team-b/web, correct spec.scaleTargetRef, or delete this document',
    });
  });

  it('says of the file of an import that it would start the dry run of a switched scaler again', async () => {
    const file: JsonObject = {
      apiVersion: 'promscaler.dev/v1',
      kind: 'Scaler',
      metadata: {
        namespace: 'shop',
        name: 'web',
        annotations: { 'promscaler.dev/adopted-from': 'HorizontalPodAutoscaler/web' },
      },
      spec: { scaleTargetRef: { name: 'web' }, maxReplicas: 5, metrics: METRICS, dryRun: true },
    };
    const { simulator: switched, pods } = await clusterOfWeb();
    const { url: own } = await prometheus(healthy(pods));
    switched.addObject(scalerDefinition());
    switched.addObject({ ...file, spec: { ...(file['spec'] as JsonObject), dryRun: false } });
    const cwd = folderOf({
      'promscaler.yaml': serviceConfig({ prometheus: own, kubernetes: switched.url }),
      'with-paths.yaml': serviceConfig({
        prometheus: own,
        kubernetes: switched.url,
        config: 'scalers: { paths: [web.yaml] }\n',
      }),
      'web.yaml': stringify(file),
    });
    const argsFor = (config: string): readonly string[] => [
      ...['validate', 'web.yaml', '--config', config],
      ...['--live', '-o', 'json'],
    ];
    const args = argsFor('promscaler.yaml');

    const { exitCode, stdout } = await runCli(args, { cwd });
    const ofService = await runCli(argsFor('with-paths.yaml'), { cwd });
    await send(switched, 'DELETE', '/apis/promscaler.dev/v1/namespaces/shop/scalers/web');
    const alone = await runCli(args, { cwd });

    const { live } = JSON.parse(stdout) as ValidationReport;
    expect(live?.results.filter(({ check }) => check === 'other-scaler')).toMatchObject([
      {
        status: 'warning',
        message:
          'the document has dryRun: true, but Scaler shop/web in the cluster does not: once the document is applied, nothing scales deployment shop/web',
        fix: 'remove spec.dryRun from the document',
      },
    ]);
    // A file of the service takes precedence over the object, so its dry run is in effect.
    expect((JSON.parse(ofService.stdout) as ValidationReport).live?.results).toContainEqual(
      expect.objectContaining({
        check: 'other-scaler',
        status: 'failed',
        message: expect.stringMatching(
          /^the scaler is in dry run, and nothing scales deployment shop\/web: /,
        ),
      }),
    );
    expect([exitCode, ofService.exitCode, alone.exitCode]).toEqual([0, 1, 1]);
  });

  describe('with the files of the service', () => {
    const liveOf = async (paths: readonly string[], more: Readonly<Record<string, string>>) => {
      const config = `scalers: { paths: [scalers], customResources: true }\n`;
      const service = serviceConfig({ prometheus: url, kubernetes: simulator.url, config });
      const cwd = files({ 'promscaler.yaml': service, 'scalers/web.yaml': document('web'), ...more });
      const ran = await runCli(
        ['validate', ...paths, '--config', 'promscaler.yaml', '--live', '-o', 'json'],
        { cwd },
      );
      const { live } = JSON.parse(ran.stdout) as ValidationReport;
      return { exitCode: ran.exitCode, failed: live?.results.filter(({ status }) => status === 'failed') };
    };

    it('fails for a name that one of them has, because the service rejects the object', async () => {
      const { exitCode, failed } = await liveOf(['copy.yaml'], { 'copy.yaml': `# copy\n${document('web')}` });

      expect(exitCode).toBe(1);
      expect(failed).toMatchObject([
        {
          check: 'config',
          message: expect.stringMatching(
            /^copy\.yaml:4:19: shop\/web is also in \S+\/scalers\/web\.yaml:3: a file takes precedence, so this object is not used$/,
          ),
          fix: 'delete one of the documents',
        },
      ]);
    });

    it('has no problem with the file itself', async () => {
      expect(await liveOf(['scalers/web.yaml'], {})).toEqual({ exitCode: 0, failed: [] });
      expect(await liveOf(['scalers'], {})).toEqual({ exitCode: 0, failed: [] });
    });

    it('fails for a target that one of them scales', async () => {
      const second = document('second', '  scaleTargetRef: { name: web }\n');
      const { failed } = await liveOf(['second.yaml'], { 'second.yaml': second });

      expect(failed).toMatchObject([
        { check: 'other-scaler', message: expect.stringContaining('Scaler shop/web') },
      ]);
    });
  });

  it('has one summary, in which a failed check counts as an error', async () => {
    const cwd = files({ 'wbe.yaml': document('wbe') });

    const { stdout } = await runCli(['validate', 'wbe.yaml', '--config', 'promscaler.yaml', '--live'], {
      cwd,
    });

    expect(stdout).toMatch(
      /\n\n1 service config, 1 document, 1 error, 0 warnings \(checks: \d+ ok, 0 warnings, 1 failed, \d+ skipped\)\n$/,
    );
    expect(stdout).not.toContain('0 errors');
  });

  it("does not check permissions: the caller's account is not that of the service", async () => {
    const before = simulator.requests().length;

    await runCli(['validate', 'promscaler.yaml', 'web.yaml', '--live'], { cwd: files() });

    const asked = simulator.requests().slice(before);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('checks only documents without an error', async () => {
    const cwd = files({ 'bad.yaml': document('bad').replace('maxReplicas', 'maxReplica') });

    const { exitCode, stdout } = await runCli(['validate', '.', '--live', '-o', 'json'], { cwd });

    const { errors, live } = JSON.parse(stdout) as ValidationReport;
    expect([exitCode, errors, live?.failed]).toEqual([1, 1, 0]);
    expect(live?.results.some(({ subject }) => subject === 'shop/bad')).toBe(false);
  });

  it('sends no request without --live, or with an invalid service config', async () => {
    const before = simulator.requests().length;
    const cwd = files({ 'promscaler.yaml': 'prometheuss: {}\n' });

    const offline = await runCli(['validate', 'web.yaml'], { cwd });
    const wrong = await runCli(['validate', 'promscaler.yaml', 'web.yaml', '--live', '-o', 'json'], { cwd });

    expect(offline.exitCode).toBe(0);
    expect(wrong.exitCode).toBe(1);
    expect(JSON.parse(wrong.stdout)).not.toHaveProperty('live');
    expect(simulator.requests()).toHaveLength(before);
  });

  it('rejects two service configs as wrong usage, and --prometheus without --live', async () => {
    const cwd = files({ 'second.yaml': serviceConfig({ prometheus: url }) });

    const two = await runCli(['validate', '.', '--live'], { cwd });
    const alone = await runCli(['validate', 'web.yaml', '--prometheus', url], { cwd });

    expect([two.exitCode, alone.exitCode]).toEqual([2, 2]);
    expect(two.stderr).toContain('Select one with --config');
    expect(alone.stderr).toContain('--prometheus needs --live');
  });
});
