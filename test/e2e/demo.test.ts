import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { CLI, type DemoProcess, endOf, runLine, startDemo } from './demo-process.js';
import { emptyQueries } from './dashboard-queries.js';
import { E2E_TIMEOUT_MS, waitFor } from './waiting.js';
import { itOnSimulator } from './fixture.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const OWN_CLUSTER = 'the demo starts its own cluster';

const WITHOUT_SERIES = {
  spec: {
    metrics: [
      { external: { metric: { name: 'none' }, query: 'sum(no_such_series)', target: { value: '1' } } },
    ],
  },
};

describe('promscaler demo', () => {
  let demo: DemoProcess;

  afterEach(() => demo.dispose());

  const name =
    'is healthy, answers every command that it prints, reports each change to it, and leaves nothing';
  itOnSimulator(OWN_CLUSTER, name, async () => {
    const startSeconds = Date.now() / 1000;
    demo = startDemo();
    await demo.opened();
    const [status = '', explain = '', pause = '', resume = '', doctor = '', ...others] = demo.commands();

    const first = await runLine(status);
    expect(first).toMatchObject({
      code: 0,
      output: expect.stringMatching(/ checkout .* mailer .* search /s),
    });
    expect(first.output).not.toContain('<unknown>');
    expect(demo.output()).not.toMatch(/no series|no value/);

    expect(await runLine(explain)).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^shop\/checkout /),
    });
    expect((await runLine(doctor)).output).toMatch(/, 0 failed\n$/);
    const paused = await runLine(pause);
    expect(paused).toMatchObject({
      code: 0,
      output: expect.stringContaining('shop/checkout is paused until'),
    });
    await waitFor(() => demo.output().includes('is paused by annotation until'), { what: 'the pause' });
    expect(paused.output).toContain(
      `Resume with \`${resume.replace('resume checkout', 'resume shop/checkout')}\``,
    );
    expect(await runLine(resume)).toMatchObject({ code: 0, output: expect.stringContaining('is resumed') });
    await waitFor(() => demo.output().includes('resumed'), { what: 'the end of the pause' });
    for (const line of others) {
      const isEndless = line.endsWith(' -w');
      const { code, output } = await runLine(line, isEndless ? 3 : 30);
      expect([line, isEndless ? 0 : code]).toEqual([line, 0]);
      expect(output).toMatch(/checkout|^statefulset\.apps\/search resource requirements updated$/m);
    }

    const kubectl = /kubectl --kubeconfig \S+/.exec(demo.output())?.[0] ?? '';
    const scalers = await runLine(`${kubectl} get scalers`);
    expect(scalers.output).toMatch(/^NAME +REFERENCE +TARGETS /);
    expect(scalers.output).toMatch(
      /\ncheckout +Deployment\/checkout +cpu: \d+%\/60% +2 +20 +\d+ +\d+ +[A-Z][A-Za-z]+ +\d+[sm] /,
    );
    const created = await runLine(`${kubectl} get pods -o jsonpath={.items[*].metadata.creationTimestamp}`);
    const ages = created.output.split(' ').map((time) => Date.parse(time) / 1000 - startSeconds);
    // Times of Kubernetes are whole seconds.
    expect(Math.min(...ages)).toBeGreaterThan(-1);
    // A scaler that fails, for the panels about failures.
    await runLine(`${kubectl} patch scaler search --type merge -p '${JSON.stringify(WITHOUT_SERIES)}'`);
    await waitFor(async () => (await runLine(`${kubectl} get scaler search`)).output.includes('<unknown>'), {
      what: 'a metric without a value',
    });
    await runLine(`${kubectl} delete scaler search`);
    await waitFor(() => demo.output().includes('document deleted'), { what: 'the deletion' });
    await waitFor(() => / {2}\d+ -> \d+ /.test(demo.output()), { what: 'a first change', seconds: 60 });

    const [, logFile = ''] = /^Log of the service: (\S+)$/m.exec(demo.output()) ?? [];
    expect(readFileSync(logFile, 'utf8')).toMatch(/ INFO {2}\S/);

    const prometheusUrl = /Prometheus UI: (\S+)\/graph/.exec(demo.output())?.[1] ?? '';
    const asked = {
      prometheusUrl,
      startSeconds,
      namespace: 'shop',
      scalers: ['checkout', 'search', 'mailer'],
    };
    let empty: readonly string[] = [];
    await waitFor(async () => (empty = await emptyQueries(asked)).length === 0, { what: 'all panels' }).catch(
      () => undefined,
    );
    expect(empty).toEqual([]);

    const [, prometheusPid = ''] = /^ {2}kill (\d+)$/m.exec(demo.output()) ?? [];
    process.kill(Number(prometheusPid));
    await waitFor(() => /Prometheus ended .*; Prometheus is started again in 20 s/.test(demo.output()), {
      what: 'the end of Prometheus',
    });
    demo.child.kill('SIGINT');
    expect(await endOf(demo.child)).toBe(0);
    expect(demo.output()).toContain('The demo ended');
    expect(demo.leftovers()).toEqual([]);
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('ends with 0 on %s and leaves nothing', async (signal) => {
    demo = startDemo();
    await demo.opened();

    demo.child.kill(signal);

    expect([await endOf(demo.child), demo.leftovers()]).toEqual([0, []]);
  });

  it('ends while it starts, and leaves nothing', async () => {
    demo = startDemo();
    await waitFor(() => demo.output().includes('Starting'), { what: 'the first line' });

    demo.child.kill('SIGTERM');

    expect([await endOf(demo.child), demo.leftovers()]).toEqual([0, []]);
  });

  it('ends at once with 1 after a second signal, and leaves nothing', async () => {
    demo = startDemo();
    await demo.opened();

    demo.child.kill('SIGTERM');
    demo.child.kill('SIGINT');

    expect(await endOf(demo.child)).toBe(1);
    await waitFor(() => demo.leftovers().length === 0, { what: 'the end of Prometheus' });
  });

  it('ends with 0 when its reader closes the pipe (| head), and leaves nothing', async () => {
    demo = startDemo('$DEMO --duration 100 | head -5; echo "demo: ${PIPESTATUS[0]}"');

    expect(await endOf(demo.child)).toBe(0);
    expect(demo.output()).toMatch(/^Starting .*\n\nDashboard: .*\n\npromscaler demo, .*\ndemo: 0\n$/);
    expect(demo.leftovers()).toEqual([]);
  });

  it('names the option that is out of its range, with exit code 2', async () => {
    const child = spawn(process.execPath, [CLI, 'demo', '--speed', '0.5']);
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    await once(child, 'close');

    expect(output).toBe('promscaler: --speed is 0.5, must be a number from 1 to 60\n');
    expect(child.exitCode).toBe(2);
  });
});
