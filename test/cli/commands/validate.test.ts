import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { describeReadError } from '../../../src/files/read-bounded.js';
import { ManualClock } from '../../support/manual-clock.js';
import { folderOf, runCli } from '../fake-io.js';

const GOOD = `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { name: web }
  maxReplicas: 3
`;
const BAD = GOOD.replace('maxReplicas: 3', 'maxReplica: 3');
const SERVICE = `prometheus:
  default: {}
  spare: { namespaces: [back] }
defaults: { maxReplicas: 9 }
`;
const ASKS_SPARE = `${GOOD}  metrics:
    - external: { query: sum(x), source: spare, target: { value: 1 } }
`;

const NOT_CHECKED =
  'without --live, validate does not check whether the metrics, labels and target exist, nor the number of series, units and permissions\n';

describe('validate', () => {
  it('prints the counts and exits with 0 if there are only warnings', async () => {
    const cwd = folderOf({ 'web.yaml': `${GOOD}  preset: chpa\n` });

    const { exitCode, stdout, stderr } = await runCli(['validate', 'web.yaml'], { cwd });

    expect(exitCode).toBe(0);
    expect(stderr).toBe('');
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('1 document, 0 errors, 1 warning');
  });

  it('skips the 3 documents of other kinds in the output of helm template, and counts them in one line', async () => {
    const deployment = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\nspec: {}\n';
    const service = deployment.replace('apps/v1', 'v1').replace('Deployment', 'Service');
    const stdin = [service, deployment, GOOD, deployment].join('---\n');
    const cwd = folderOf({ 'web.yaml': deployment });

    expect(await runCli(['validate', '-'], { stdin })).toMatchObject({
      exitCode: 0,
      stdout: `3 documents of other kinds are skipped\n${NOT_CHECKED}1 document, 0 errors, 0 warnings\n`,
      stderr: '',
    });
    const json = await runCli(['validate', '-', '-o', 'json'], { stdin });
    expect(JSON.parse(json.stdout)).toMatchObject({ documents: 1, otherKinds: 3, errors: 0 });
    const both = await runCli(['validate', '-', 'web.yaml'], { stdin, cwd });
    expect([both.exitCode, both.stdout]).toEqual([
      1,
      expect.stringContaining('web.yaml:2:7: error: kind is Deployment, must be Scaler'),
    ]);
  });

  it('prints the active and the next periods of each schedule, three in all, and warns about a past date', async () => {
    const schedules = `  schedules:
    - { name: day, start: 0 8 * * 1-5, end: 0 20 * * 1-5, timeZone: Europe/Warsaw, minReplicas: 2 }
    - { name: sale, minReplicas: 2, dates: [{ start: 2001-01-01, end: 2001-01-02 }] }
`;
    const cwd = folderOf({ 'web.yaml': `${GOOD}${schedules}` });
    const clock = new ManualClock('2026-11-26T12:00:00Z');

    const { exitCode, stdout } = await runCli(['validate', 'web.yaml'], { cwd, clock });

    expect(exitCode).toBe(0);
    expect(stdout).toContain('web.yaml:9:45');
    expect(stdout).toContain('spec.schedules[1].dates[0] (2001-01-01 to 2001-01-02) is in the past');
    expect(stdout).toContain(
      'shop/web, schedule day (Europe/Warsaw): 2026-11-26 08:00 to 20:00 (active now), 2026-11-27 08:00 to 20:00, 2026-11-30 08:00 to 20:00\n' +
        'shop/web, schedule sale (UTC): never active again\n',
    );
  });

  it('prints a problem, and no stack, for a query of 2,600 calls', async () => {
    const metric = `  metrics:\n    - external: { query: "foo(x)${'+foo(x)'.repeat(2600)}", target: { value: 1 } }\n`;
    const cwd = folderOf({ 'web.yaml': `${GOOD}${metric}` });

    const { exitCode, stdout, stderr } = await runCli(['validate', 'web.yaml'], { cwd });

    expect(exitCode).toBe(1);
    expect(stderr).toBe('');
    // The line is too long to be printed.
    expect(stdout).toBe(
      'web.yaml:8:3533: error: spec.metrics[0].external.query: the query has 2600 operators, must have at most 500 [query-limit]\nwithout --live, validate does not check whether the metrics, labels and target exist, nor the number of series, units and permissions\n1 document, 1 error, 0 warnings\n',
    );
  });

  it('prints file, line, column, source line, caret and the nearest name, and exits with 1', async () => {
    const cwd = folderOf({ 'web.yaml': BAD });

    const { exitCode, stdout } = await runCli(['validate', 'web.yaml'], { cwd });

    expect(exitCode).toBe(1);
    expect(stdout).toContain('web.yaml:6:3: error: spec.maxReplica');
    expect(stdout).toContain('did you mean "maxReplicas"?');
    expect(stdout).toContain('   6 |   maxReplica: 3\n     |   ^\n');
    expect(stdout).toMatch(/\n1 document, 1 error, 0 warnings\n$/);
  });

  it('prints counts and problems with -o json', async () => {
    const cwd = folderOf({ 'web.yaml': BAD });

    const { exitCode, stdout } = await runCli(['validate', 'web.yaml', '-o', 'json'], { cwd });

    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      serviceConfigs: 0,
      documents: 1,
      errors: 1,
      warnings: 0,
      problems: [
        {
          code: 'unknown-field',
          severity: 'error',
          file: 'web.yaml',
          path: 'spec.maxReplica',
          place: { line: 6, column: 3 },
          sourceLine: '  maxReplica: 3',
        },
      ],
    });
  });

  it('rejects an unknown -o as wrong usage', async () => {
    const { exitCode, stderr } = await runCli(['validate', 'x.yaml', '-o', 'yml']);

    expect(exitCode).toBe(2);
    expect(stderr).toBe('promscaler: -o is yml, must be one of text, json, yaml\n');
  });

  it('reads a document from standard input', async () => {
    const { exitCode, stdout } = await runCli(['validate', '-'], { stdin: BAD });

    expect(exitCode).toBe(1);
    expect(stdout).toContain('-:6:3: error');
  });
});

describe('validate, for queries,', () => {
  const withQuery = (query: string): string =>
    `${GOOD}  metrics:\n    - external: { query: '${query}', target: { value: 1 } }\n`;

  it('prints before the counts which checks need a server', async () => {
    const cwd = folderOf({ 'web.yaml': withQuery('sum(x)') });

    const { exitCode, stdout } = await runCli(['validate', 'web.yaml'], { cwd });

    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split('\n')).toEqual([
      'without --live, validate does not check whether the metrics, labels and target exist, nor the number of series, units and permissions',
      '1 document, 0 errors, 0 warnings',
    ]);
  });

  it('prints that also for cpu alone, and never in JSON', async () => {
    const cwd = folderOf({ 'web.yaml': withQuery('sum(x)'), 'cpu.yaml': GOOD });

    expect((await runCli(['validate', 'web.yaml', '-o', 'json'], { cwd })).stdout).not.toContain('--live');
    expect((await runCli(['validate', 'cpu.yaml'], { cwd })).stdout).toBe(
      `${NOT_CHECKED}1 document, 0 errors, 0 warnings\n`,
    );
  });

  it.each([
    ['prometheus', 1, 'error: spec.metrics[0].external.query: rate() takes a range vector'],
    ['victoriametrics', 0, 'warning: spec.metrics[0].external.query: rate() takes a range vector'],
  ])('reads them in the flavor of their data source: %s', async (flavor, exitCode, sentence) => {
    const service = `prometheus: { default: { flavor: ${flavor} } }\n`;
    const cwd = folderOf({ 'web.yaml': withQuery('sum(rate(rps))'), 'service.yaml': service });

    const result = await runCli(['validate', 'web.yaml', '--config', 'service.yaml'], { cwd });

    expect(result.exitCode).toBe(exitCode);
    expect(result.stdout).toContain(sentence);
  });
});

describe('validate, for unreadable input,', () => {
  it.each([
    ['nowhere.yaml', 'nowhere.yaml: error: no such file or directory [unreadable]'],
    ['empty', 'empty: error: the directory contains no *.yaml or *.yml file [unreadable]'],
    ['blank.yaml', 'blank.yaml: error: the file contains no document [unreadable]'],
    ['utf16.yaml', 'utf16.yaml: error: the file is not UTF-8 text [unreadable]'],
  ])('reports for %s: %s', async (path, sentence) => {
    const cwd = folderOf({ 'blank.yaml': '# nothing\n', 'empty/notes.txt': '', 'utf16.yaml': '' });
    writeFileSync(join(cwd, 'utf16.yaml'), Buffer.from([0xff, 0xfe, 0x61, 0x00]));

    const { exitCode, stdout } = await runCli(['validate', path], { cwd });

    expect(exitCode).toBe(1);
    expect(stdout.split('\n')[0]).toBe(sentence);
  });

  it('still checks the other paths', async () => {
    const cwd = folderOf({ 'web.yaml': BAD });

    const { stdout } = await runCli(['validate', 'nowhere.yaml', 'web.yaml'], { cwd });

    expect(stdout).toMatch(/\n1 document, 2 errors, 0 warnings\n$/);
  });

  it.each([
    ['EACCES', 'permission denied'],
    ['EISDIR', 'this is a directory, not a file'],
    ['ENOENT', 'no such file or directory'],
  ])('explains %s', (code, sentence) => {
    expect(describeReadError(Object.assign(new Error(code), { code }))).toBe(sentence);
  });
});

describe('validate, for directories,', () => {
  it('reads *.yaml and *.yml of subdirectories, too, and no hidden files', async () => {
    const cwd = folderOf({
      'a.yaml': GOOD,
      'sub/b.yml': GOOD.replaceAll('name: web', 'name: api'),
      '.hidden.yaml': BAD,
      'notes.md': 'no',
    });

    const { exitCode, stdout } = await runCli(['validate', '.'], { cwd });

    expect([exitCode, stdout]).toEqual([0, `${NOT_CHECKED}2 documents, 0 errors, 0 warnings\n`]);
  });

  it('reads a mounted ConfigMap once, through its ..data', async () => {
    const cwd = folderOf({ 'm/..2026_01_01/web.yaml': GOOD });
    symlinkSync('..2026_01_01', join(cwd, 'm/..data'));
    symlinkSync('..data/web.yaml', join(cwd, 'm/web.yaml'));

    const { exitCode, stdout } = await runCli(['validate', 'm'], { cwd });

    expect([exitCode, stdout]).toEqual([0, `${NOT_CHECKED}1 document, 0 errors, 0 warnings\n`]);
  });

  it('checks a file of two paths once', async () => {
    const cwd = folderOf({ 'd/web.yaml': GOOD });

    const { exitCode, stdout } = await runCli(['validate', 'd', 'd/web.yaml', './d'], { cwd });

    expect([exitCode, stdout]).toEqual([0, `${NOT_CHECKED}1 document, 0 errors, 0 warnings\n`]);
  });
});

describe('validate, with a service config,', () => {
  it.each([
    ['by --config', ['validate', 'web.yaml', '--config', 'service.yaml']],
    ['among the paths', ['validate', 'web.yaml', 'service.yaml']],
    ['both', ['validate', '.', '--config', 'service.yaml']],
  ])('%s, checks documents against its data sources', async (_, argv) => {
    const cwd = folderOf({ 'web.yaml': ASKS_SPARE, 'service.yaml': SERVICE });

    const { exitCode, stdout } = await runCli(argv, { cwd });

    expect(exitCode).toBe(1);
    expect(stdout).toContain('[source-not-admitted]');
    expect(stdout).toMatch(/\n1 service config, 1 document, 1 error, 0 warnings\n$/);
  });

  it('counts the test files in a directory, and leaves them to promscaler test', async () => {
    const { exitCode, stdout, stderr } = await runCli(['validate', 'config']);

    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/, 3 test files \(see promscaler test\), 0 errors, 0 warnings\n$/);
  });

  it('checks no data sources without one', async () => {
    const cwd = folderOf({ 'web.yaml': ASKS_SPARE });

    const { exitCode } = await runCli(['validate', 'web.yaml'], { cwd });

    expect(exitCode).toBe(0);
  });

  it('applies its defaults to omitted fields', async () => {
    const cwd = folderOf({ 'web.yaml': BAD.replace('  maxReplica: 3\n', ''), 'service.yaml': SERVICE });

    const { exitCode } = await runCli(['validate', 'web.yaml', '--config', 'service.yaml'], { cwd });

    expect(exitCode).toBe(0);
  });

  it('prints its problems, too', async () => {
    const cwd = folderOf({ 'web.yaml': GOOD, 'service.yaml': 'promtheus: {}\n' });

    const { exitCode, stdout } = await runCli(['validate', '.'], { cwd });

    expect(exitCode).toBe(1);
    expect(stdout).toContain('service.yaml:1:1: error: promtheus');
  });

  it('checks documents against none of several', async () => {
    const cwd = folderOf({ 'web.yaml': ASKS_SPARE, 'a.yaml': SERVICE, 'b.yaml': SERVICE });

    const { exitCode, stdout } = await runCli(['validate', '.'], { cwd });

    expect(exitCode).toBe(0);
    expect(stdout).toContain('\n2 service configs, 1 document, 0 errors, 0 warnings\n');
  });

  it('reports a scaler without apiVersion and kind as a scaler', async () => {
    const text = GOOD.replace(/^apiVersion.*\n|^kind.*\n/gm, '');

    const { exitCode, stdout } = await runCli(['validate', '-'], { stdin: text });

    expect(exitCode).toBe(1);
    expect(stdout).toContain('apiVersion is missing');
    expect(stdout).toContain('kind is missing');
    expect(stdout).toMatch(/\n1 document, 2 errors, 0 warnings\n$/);
  });
});

describe('validate, for invalid YAML that may be a service config,', () => {
  it.each([[['validate', 'promscaler.yaml']], [['validate', '--config', 'promscaler.yaml', 'web.yaml']]])(
    '%j prints where it is invalid, and nothing of the line',
    async (args) => {
      const cwd = folderOf({
        'promscaler.yaml': 'prometheus: { default: { urls: [http://reader:canary@x } }\n',
      });

      for (const format of ['text', 'json']) {
        const { exitCode, stdout, stderr } = await runCli([...args, '-o', format], { cwd });

        expect(exitCode).toBe(1);
        expect(stdout).toContain('yaml-syntax');
        expect(stdout + stderr).not.toContain('canary');
      }
    },
  );
});

describe('validate -n', () => {
  const document = (namespace: string): string => `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: web${namespace} }
spec: { scaleTargetRef: { name: web }, maxReplicas: 10 }
`;

  it('sets the namespace of documents without one, and rejects another one, as kubectl apply -n does', async () => {
    const stdin = [document(''), document(', namespace: lab')].join('---\n');

    const { exitCode, stdout } = await runCli(['validate', '-n', 'shop', '-'], { stdin });

    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      ':8:35: error: metadata.namespace is "lab", but --namespace is shop [wrong-value]',
    );
    expect(stdout).toMatch(/\n2 documents, 1 error, 0 warnings\n$/);
  });

  it('is named if a document has no namespace', async () => {
    const { exitCode, stdout } = await runCli(['validate', '-'], { stdin: document('') });

    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      'metadata.namespace is missing; if kubectl apply -n sets it, use promscaler validate -n',
    );
  });
});
