import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import pc from 'picocolors';
import { CHECK_NAMES, resultsOf } from '../../../src/cli/checks/check-result.js';
import { makeReport, writeReport } from '../../../src/cli/checks/report.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { ManualClock, settle } from '../../support/manual-clock.js';
import { folderOf, runCli } from '../fake-io.js';
import {
  type Asked,
  cluster,
  document,
  diagnosed,
  healthy,
  prometheus,
  runDoctor,
  server,
} from './fixture.js';

let fixture: Required<Pick<Asked, 'prometheus' | 'kubernetes' | 'documents'>>;
let simulator: Simulator;

beforeAll(async () => {
  simulator = await cluster({
    workloads: [
      { namespace: 'shop', name: 'web', replicas: 2 },
      { namespace: 'shop', name: 'bare', replicas: 2, containers: [{ name: 'app' }] },
    ],
  });
  const pods = simulator.listObjects('/pods', 'shop').map(({ metadata }) => metadata.name);
  const { url } = await prometheus(healthy(pods));
  fixture = { prometheus: url, kubernetes: simulator.url, documents: { web: document('web') } };
});

const BARE = { web: document('web'), bare: document('bare') };

describe('doctor', () => {
  it('reports nothing for a healthy cluster, and runs all checks', async () => {
    const { exitCode, status, warnings, failed, skipped, results } = await diagnosed(fixture);

    expect({ exitCode, status, warnings, failed, skipped }).toEqual({
      exitCode: 0,
      status: 'ok',
      warnings: 0,
      failed: 0,
      skipped: 0,
    });
    // Outside a cluster there is no election and no stored state; documents are files.
    const notHere = ['lease', 'state', 'custom-resources', 'notifications'];
    const here = CHECK_NAMES.filter((name) => !notHere.includes(name));
    expect(results.map(({ check }) => check)).toEqual(here);
  });

  it('prints one line per subject of a healthy cluster', async () => {
    const { exitCode, stdout } = await runDoctor(fixture);

    const lines = stdout.trimEnd().split('\n');
    expect(exitCode).toBe(0);
    expect(lines.slice(0, 2)).toEqual([
      'ok        config: promscaler.yaml; 1 valid document',
      `ok        data source default: ${fixture.prometheus} answers; cpu series of 4 containers; the containers are scraped every 30 s, so the window is 120 s (with scrape_interval: 15s, the metrics would follow the load sooner); the newest samples of cpu are up to 25 s old (limit: 33 s)`,
    ]);
    expect(lines[3]).toMatch(
      /^ok {8}shop\/web: deployment shop\/web has 2 replicas; .*the current decision, which ignores all windows, is: cpu/,
    );
    expect(lines.at(-1)).toBe('checks: 21 ok, 0 warnings, 0 failed');
  });

  it('prints the fix below a failure, and exits with 1', async () => {
    const { exitCode, stdout } = await runDoctor({ ...fixture, documents: BARE });

    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^ok {8}shop\/bare: .*\nfailed {4}shop\/bare: requests: container app .*\n {12}fix: kubectl set/m,
    );
    expect(stdout).toMatch(/^ok {8}shop\/web/m);
  });

  it('prints one line for each of 20 scalers in which all is well, and one for the rest', () => {
    const results = Array.from({ length: 23 }, (_, index) =>
      resultsOf('target', `shop/w-${index}`).ok('has 1 replica'),
    );
    const bad = resultsOf('target', 'shop/z').failed('is not there', 'make one');

    const lines = writeReport(
      makeReport([...results, bad], { command: 'promscaler' }),
      pc.createColors(false),
    ).split('\n');

    expect(lines.filter((line) => line.startsWith('ok '))).toHaveLength(21);
    expect(lines).toContain('ok        3 more scalers');
    expect(lines).toContain('failed    shop/z: target: is not there');
    expect(lines).toContain('checks: 23 ok, 0 warnings, 1 failed');
  });

  it('marks as many lines as it counts: 3 warnings and 2 failures of three subjects', () => {
    const results = [
      resultsOf('config', 'config').warning('web.yaml:3:1: old', 'look'),
      resultsOf('prometheus', 'data source default').ok('answers'),
      resultsOf('scrape-interval', 'data source default').warning('2 scrapes', 'a longer window'),
      resultsOf('target', 'shop/a').failed('is not there', 'make one'),
      resultsOf('query', 'shop/a').failed('no series', 'the label'),
      resultsOf('pods', 'shop/a').warning('1 is Pending', 'wait'),
      resultsOf('decision', 'shop/a').skipped('the target is not known'),
      resultsOf('requests', 'shop/a').skipped('the target is not known'),
    ];

    const lines = writeReport(makeReport(results, { command: 'promscaler' }), pc.createColors(false))
      .trimEnd()
      .split('\n');

    const marked = (word: string): number => lines.filter((line) => line.startsWith(`${word} `)).length;
    expect([marked('warning'), marked('failed')]).toEqual([3, 2]);
    expect(lines).toEqual([
      'warning   config: web.yaml:3:1: old',
      '            fix: look',
      'ok        data source default: prometheus: answers',
      'warning   data source default: scrape-interval: 2 scrapes',
      '            fix: a longer window',
      'failed    shop/a: target: is not there',
      '            fix: make one',
      'failed    shop/a: query: no series',
      '            fix: the label',
      'warning   shop/a: pods: 1 is Pending',
      '            fix: wait',
      'skipped   shop/a: decision, requests: the target is not known',
      '',
      'checks: 1 ok, 3 warnings, 2 failed, 2 skipped',
    ]);
  });

  it('checks one scaler only, and suggests the name of a misspelled one', async () => {
    const one = await diagnosed({ ...fixture, documents: BARE, args: ['shop/web'] });
    const none = await runDoctor({ ...fixture, documents: BARE, args: ['shop/wbe'] });

    expect(one.exitCode).toBe(0);
    expect(one.results.some(({ subject }) => subject === 'shop/bare')).toBe(false);
    expect(none).toMatchObject({ exitCode: 2, stdout: '' });
    expect(none.stderr).toContain('similar: shop/web');
  });

  it('queries another Prometheus with --prometheus, which must be an address', async () => {
    const ran = await diagnosed({
      ...fixture,
      prometheus: 'http://127.0.0.1:1',
      args: ['--prometheus', fixture.prometheus],
    });
    const wrong = await runDoctor({ ...fixture, args: ['--prometheus', 'localhost:9090'] });

    expect(ran.exitCode).toBe(0);
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain('must be an http or https URL');
  });

  it('uses colors only on a terminal', async () => {
    const colored = await runDoctor({ ...fixture, isTerminal: true });
    const plain = await runDoctor(fixture);

    expect(colored.stdout).toContain('\u001b[');
    expect(plain.stdout).not.toContain('\u001b[');
  });

  it('changes nothing in the cluster', async () => {
    await diagnosed(fixture);

    const writes = simulator
      .requests()
      .filter(({ method, path }) => method !== 'GET' && !path.includes('reviews'));
    expect(writes).toEqual([]);
  });
});

describe('config', () => {
  it('that is invalid is the only thing reported', async () => {
    const cwd = folderOf({ 'promscaler.yaml': 'prometheuss: {}\n' });

    const { exitCode, stdout } = await runCli(['doctor', '--config', 'promscaler.yaml'], { cwd });

    expect(exitCode).toBe(1);
    expect(stdout).toContain('config: promscaler.yaml:1:1: ');
    expect(stdout).toContain('did you mean "prometheus"?');
    expect(stdout).toContain('fix: correct the document; promscaler validate promscaler.yaml shows the line');
  });

  it('with an invalid document fails, and the other documents are checked', async () => {
    const documents = { ...fixture.documents, bad: document('bad').replace('maxReplicas', 'maxReplica') };

    const { of, results, exitCode } = await diagnosed({ ...fixture, documents });

    expect(exitCode).toBe(1);
    expect(of('config')[0]?.message).toContain('maxReplica');
    expect(results.some(({ subject }) => subject === 'shop/web')).toBe(true);
  });

  it('with a document in two files says to delete one: each is valid on its own', async () => {
    const documents = { web: document('web'), copy: document('web') };

    const { of } = await diagnosed({ ...fixture, documents });

    expect(of('config')).toMatchObject([
      { status: 'failed', fix: 'delete one of the documents' },
      { status: 'skipped', subject: 'shop/web' },
    ]);
  });

  it('that is unset is that of run: every value has its default, and there is no directory of documents', async () => {
    const { exitCode, stdout } = await runCli(['doctor'], {
      cwd: folderOf({}),
      env: { HOME: '/nonexistent' },
    });

    expect(exitCode).toBe(1);
    expect(stdout).toContain('fix: set scalers.paths in the service config');
    expect(stdout).toContain('http://prometheus:9090');
  });
});

describe('doctor, while nothing answers', () => {
  it('ends within a minute, in which each request has its own deadline', async () => {
    const silent = await server(() => undefined);
    const clock = new ManualClock();
    const running = diagnosed({ ...fixture, prometheus: silent.url, kubernetes: silent.url, clock });

    const state = { isDone: false };
    void running.finally(() => (state.isDone = true));
    while (!state.isDone) {
      await settle();
      clock.advance(clock.nextMs ?? 0);
    }
    const { exitCode, of } = await running;

    expect(exitCode).toBe(1);
    expect(of('prometheus')[0]?.message).toContain('timeout after');
    expect(of('cluster')[0]?.message).toContain('timeout after');
    expect(clock.monotonicMs()).toBeLessThanOrEqual(60_000);
  });
});

describe('the page on troubleshooting', () => {
  it('has a row for each check, in order', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/guides/troubleshooting.md'), 'utf8');
    const table = /\| check \|.*\n\| --- .*\n((?:\|.*\n)+)/.exec(page)?.[1] ?? '';

    const names = table.split('\n').flatMap((line) => /^\| `([a-z-]+)` \|/.exec(line)?.[1] ?? []);

    expect(names).toEqual(CHECK_NAMES);
  });
});
