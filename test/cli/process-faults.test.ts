import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderOf } from './fake-io.js';

const CLI = join(import.meta.dirname, '../../dist/bundle/main.js');
const CONFIG =
  'server: { port: 0 }\nkubernetes: { url: http://127.0.0.1:9 }\nprometheus: { default: { urls: [http://127.0.0.1:9] } }\n';

/** Runs the built service, evaluates `code` in its process once it has started, and returns its output. */
async function run(code: string): Promise<{ readonly exitCode: number; readonly lines: readonly string[] }> {
  const cwd = folderOf({ 'promscaler.yaml': CONFIG, 'scalers/none.yaml': '' });
  const onSignal = `process.on('SIGUSR2', () => { ${code} })`;
  const node = ['--import', `data:text/javascript,${encodeURIComponent(onSignal)}`, CLI];
  const child = spawn(process.execPath, [...node, 'run', '--config', 'promscaler.yaml'], { cwd });
  let text = '';
  let isToldToRun = false;
  let isToldToEnd = false;
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (!isToldToRun && text.includes('"message":"started"')) isToldToRun = child.kill('SIGUSR2');
    // A second SIGTERM would end it at once, whatever it still writes.
    if (!isToldToEnd && text.includes('Node.js warning')) isToldToEnd = child.kill('SIGTERM');
  });
  const [exitCode] = (await once(child, 'close')) as [number];
  return { exitCode, lines: text.trimEnd().split('\n') };
}

describe('faults in the process', () => {
  it('report a warning as a log entry, and nothing else', async () => {
    const { exitCode, lines } = await run("process.emitWarning('eleven', 'Strange')");

    const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(exitCode).toBe(0);
    expect(records).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: 'Node.js warning',
        name: 'Strange',
        error: 'eleven',
      }),
    );
  });

  const recordsOf = (lines: readonly string[]) =>
    lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

  it('report an unhandled rejection as a log entry, 10 of 12, and the service continues', async () => {
    const warn = "setTimeout(() => process.emitWarning('still here'), 50)";
    const { exitCode, lines } = await run(
      `for (let i = 0; i < 12; i += 1) Promise.reject(new Error('lost')); ${warn}`,
    );

    const records = recordsOf(lines);
    const rejected = records.filter(({ error }) => error === 'lost');
    expect(exitCode).toBe(0);
    expect(rejected).toHaveLength(10);
    expect(rejected[0]).toMatchObject({ level: 'error', stack: expect.stringContaining('Error: lost\n') });
    expect(records).toContainEqual(expect.objectContaining({ error: 'still here' }));
    expect(records.at(-1)).toMatchObject({ message: 'stopped' });
  });

  it('report an exception as a log entry, stop the service as SIGTERM does, and end the process with 1', async () => {
    const { exitCode, lines } = await run("throw new Error('lost')");

    const records = recordsOf(lines);
    expect(exitCode).toBe(1);
    expect(records.find(({ error }) => error === 'lost')).toMatchObject({ level: 'error' });
    expect(records.at(-1)).toMatchObject({ message: 'stopped' });
  });
});
