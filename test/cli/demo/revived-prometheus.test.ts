import { describe, expect, it } from '@jest/globals';
import type { RunningPrometheus } from '../../../src/cli/demo/programs/prometheus-server.js';
import { revivedPrometheus } from '../../../src/cli/demo/revived-prometheus.js';
import { ManualClock } from '../../support/manual-clock.js';

class Process implements RunningPrometheus {
  readonly pid: number;
  readonly port = 9090;
  readonly url = 'http://127.0.0.1:9090';
  readonly directory = '/demo';
  readonly ended: Promise<string>;
  isRunning = true;
  #end: (why: string) => void = () => undefined;

  constructor(pid: number) {
    this.pid = pid;
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  readonly signal = (name: NodeJS.Signals): void => this.exit(`Prometheus ended by ${name}`);

  readonly stop = (): Promise<void> => {
    this.exit('Prometheus ended with code 0');
    return Promise.resolve();
  };

  exit(why: string): void {
    this.isRunning = false;
    this.#end(why);
  }
}

/** `failures`: how many starts fail. */
function fixture({ failures = 0 } = {}) {
  const clock = new ManualClock();
  const processes = [new Process(1)];
  const ports: number[] = [];
  const told: string[] = [];
  const start = (port: number): Promise<RunningPrometheus> => {
    ports.push(port);
    if (ports.length <= failures) return Promise.reject(new Error('the disk is full'));
    const next = new Process(processes.length + 1);
    processes.push(next);
    return Promise.resolve(next);
  };
  const revived = revivedPrometheus(processes[0]!, { start, clock });
  revived.follow((text) => void told.push(text));
  return { clock, processes, ports, told, revived };
}

describe('the Prometheus of the demo', () => {
  it('is started again 20 s after it was killed, at the same port, as often as it is killed', async () => {
    const { clock, processes, ports, told, revived } = fixture();

    for (let kill = 1; kill <= 2; kill += 1) {
      revived.signal('SIGKILL');
      await clock.advanceAndSettle(19_999);
      expect(processes).toHaveLength(kill);
      await clock.advanceAndSettle(1);
      expect(processes).toHaveLength(kill + 1);
    }

    expect(ports).toEqual([9090, 9090]);
    expect(told.slice(0, 2)).toEqual([
      'Prometheus ended by SIGKILL; Prometheus is started again in 20 s',
      'started again',
    ]);
    expect(told).toHaveLength(4);
    await revived.stop();
    expect(processes.map(({ isRunning }) => isRunning)).toEqual([false, false, false]);
  });

  it('is started again after 2 starts that fail, of which the first is reported', async () => {
    const { clock, processes, told, revived } = fixture({ failures: 2 });

    revived.signal('SIGTERM');
    await clock.advanceAndSettle(60_000);

    expect(processes).toHaveLength(2);
    expect(told.slice(1)).toEqual([
      'Prometheus cannot be started again, retrying every 20 s: the disk is full',
      'started again',
    ]);
    await revived.stop();
  });

  it('stays stopped after the end of the demo, also of an outage', async () => {
    const { clock, processes, told, revived } = fixture();

    revived.signal('SIGKILL');
    await clock.advanceAndSettle(10_000);
    await revived.stop();
    await clock.advanceAndSettle(60_000);

    expect([processes.length, told.length, clock.pending]).toEqual([1, 1, 0]);
  });
});
