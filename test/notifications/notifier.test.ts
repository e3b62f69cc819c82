import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createDelivery, type Delivery, createNotifier } from '../../src/notifications/notifier.js';
import type { Failure, ReceiverConfig } from '../../src/notifications/notification.js';
import type { PostResult } from '../../src/notifications/post.js';
import { createLedger } from '../../src/telemetry/ledger.js';
import { createEventFeed } from '../../src/telemetry/event-feed.js';
import { type FakeServer, startServer } from '../prometheus/fakes.js';
import { ManualClock, eventually, settle } from '../support/manual-clock.js';
import { aFailure, aReceiver, aRescale, failureEvent, rescaleEvent } from './builders.js';

const SENT: PostResult = { kind: 'sent' };
const refusal = (of: Partial<Extract<PostResult, { kind: 'failed' }>> = {}): PostResult => ({
  kind: 'failed',
  why: 'server error',
  status: 500,
  mayRetry: true,
  retryAfterSeconds: null,
  ...of,
});

interface Fixture {
  readonly clock: ManualClock;
  readonly delivery: Delivery;
  /** Second and number of events of each request. */
  readonly requests: readonly (readonly [number, number])[];
  readonly bodies: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly lines: readonly string[];
  readonly stop: () => Promise<void>;
}

/** `answers`: the results of the requests in order; the last one is that of all others. */
function deliver(
  answers: readonly (PostResult | 'never')[],
  config: Partial<ReceiverConfig> = {},
  isLasting: (failure: Failure) => boolean = () => true,
): Fixture {
  const clock = new ManualClock();
  clock.chance = 0.5;
  const requests: (readonly [number, number])[] = [];
  const bodies: string[] = [];
  const counts: Record<string, number> = {};
  const lines: string[] = [];
  const line = (message: string, facts = {}): void => void lines.push(`${message} ${JSON.stringify(facts)}`);
  const post = (body: string): Promise<PostResult> => {
    const parsed = JSON.parse(body) as { events: [] } | [];
    requests.push([clock.monotonicMs() / 1000, (Array.isArray(parsed) ? parsed : parsed.events).length]);
    bodies.push(body);
    const answer = answers[requests.length - 1] ?? answers.at(-1) ?? SENT;
    return answer === 'never' ? new Promise(() => undefined) : Promise.resolve(answer);
  };
  const ending = new AbortController();
  const delivery = createDelivery(aReceiver(config), {
    receiver: { post, probe: () => Promise.resolve(SENT) },
    clock,
    log: { debug: line, info: line, warn: line, error: line },
    counters: { count: (_, result, count) => (counts[result] = (counts[result] ?? 0) + count) },
    isLasting,
  });
  const running = delivery.run(ending.signal);
  const stop = async (): Promise<void> => {
    ending.abort();
    await running;
  };
  return { clock, delivery, requests, bodies, counts, lines, stop };
}

describe('the delivery to a receiver', () => {
  it('sends the events of a round in one request', async () => {
    const { clock, delivery, requests, counts } = deliver([SENT]);
    for (let id = 0; id < 20; id += 1) delivery.add(aRescale({ id: String(id) }));
    await clock.advanceAndSettle(5000);

    expect(requests).toEqual([[1, 20]]);
    expect(counts).toEqual({ sent: 20 });
  });

  it('sends at most maxPerMinute requests with 50 events each (O10)', async () => {
    const { clock, delivery, requests } = deliver([SENT], { maxPerMinute: 6 });
    for (let id = 0; id < 120; id += 1) delivery.add(aRescale({ id: String(id) }));
    await clock.advanceAndSettle(60_000);

    expect(requests).toEqual([
      [1, 50],
      [11, 50],
      [21, 20],
    ]);
  });

  it('retries three times with growing delays, then counts them as failed and logs it once (O10)', async () => {
    const { clock, delivery, requests, counts, lines } = deliver([refusal()]);
    delivery.add(aRescale());
    await clock.advanceAndSettle(60_000);
    delivery.add(aRescale({ id: 'b' }));
    await clock.advanceAndSettle(60_000);

    expect(requests.slice(0, 4).map(([second]) => second)).toEqual([1, 2, 6, 22]);
    expect(requests).toHaveLength(8);
    expect(counts).toEqual({ failed: 2 });
    expect(lines).toEqual([
      'failed to send notifications {"receiver":"ops","why":"server error","notifications":1,"status":500}',
    ]);
  });

  it('waits as long as Retry-After says, up to a minute', async () => {
    const wait = (retryAfterSeconds: number): PostResult => refusal({ status: 429, retryAfterSeconds });
    const { clock, delivery, requests, lines } = deliver([wait(30), wait(86_400), SENT]);
    delivery.add(aRescale());
    await clock.advanceAndSettle(200_000);

    expect(requests.map(([second]) => second)).toEqual([1, 31, 91]);
    expect(lines).toEqual([]);
  });

  it('does not retry a rejected request', async () => {
    const { clock, delivery, requests, counts } = deliver([refusal({ status: 400, mayRetry: false }), SENT]);
    delivery.add(aRescale());
    await clock.advanceAndSettle(5000);
    delivery.add(aRescale({ id: 'b' }));
    await clock.advanceAndSettle(5000);

    expect(requests).toHaveLength(2);
    expect(counts).toEqual({ failed: 1, sent: 1 });
  });

  it('repeats a failure to Alertmanager every 5 minutes while it lasts, each time with an end 15 minutes later', async () => {
    let lasts = true;
    const { clock, delivery, requests, bodies } = deliver([SENT], { format: 'alertmanager' }, () => lasts);
    delivery.add(aFailure());
    await clock.advanceAndSettle(700_000);
    lasts = false;
    await clock.advanceAndSettle(1_000_000);

    expect(requests.map(([second]) => second)).toEqual([1, 301, 601]);
    const alerts = bodies.flatMap((body) => JSON.parse(body) as { startsAt: string; endsAt: string }[]);
    expect(alerts.map(({ startsAt, endsAt }) => [startsAt, endsAt])).toEqual([
      ['2026-01-01T00:00:00Z', '2026-01-01T00:15:03Z'],
      ['2026-01-01T00:00:00Z', '2026-01-01T00:20:03Z'],
      ['2026-01-01T00:00:00Z', '2026-01-01T00:25:03Z'],
    ]);
    expect(clock.pending).toBe(1);
  });

  it('ends an alert at most 15 minutes after a recovery whose notice was lost, without another request', async () => {
    let lasts = true;
    const lost = refusal({ mayRetry: false });
    const { clock, delivery, requests, bodies } = deliver(
      [SENT, lost, SENT],
      { format: 'alertmanager' },
      () => lasts,
    );
    delivery.add(aFailure());
    await clock.advanceAndSettle(120_000);
    lasts = false;
    delivery.add(aFailure({ failing: false }));
    await clock.advanceAndSettle(3_600_000);

    expect(requests.map(([second]) => second)).toEqual([1, 121]);
    expect(bodies[0]).toContain('"endsAt":"2026-01-01T00:15:03Z"');
  });

  it('sends a failure again whose first notice Alertmanager did not accept', async () => {
    const { clock, delivery, requests } = deliver([refusal({ mayRetry: false }), SENT], {
      format: 'alertmanager',
    });
    delivery.add(aFailure());
    await clock.advanceAndSettle(400_000);

    expect(requests.map(([second]) => second)).toEqual([1, 301]);
  });

  it('refreshes 500 alerts within maxPerMinute, and gives them an end beyond the refresh of all', async () => {
    const { clock, delivery, requests, bodies } = deliver([SENT], {
      format: 'alertmanager',
      maxPerMinute: 1,
    });
    for (let index = 0; index < 500; index += 1) delivery.add(aFailure({ name: `web-${index}` }));
    await clock.advanceAndSettle(3_600_000);

    expect(requests.length).toBeLessThanOrEqual(60);
    const last = JSON.parse(bodies.at(-1) ?? '[]') as { endsAt: string }[];
    // 500 alerts take 10 requests, one a minute.
    expect(last.at(-1)?.endsAt).toBe('2026-01-01T01:34:01Z');
  });

  it('sends a failure to other receivers once, however long it lasts', async () => {
    const { clock, delivery, requests } = deliver([SENT]);
    delivery.add(aFailure());
    await clock.advanceAndSettle(3_600_000);

    expect(requests).toEqual([[1, 1]]);
  });

  it('drops the oldest while a request never ends (O10)', async () => {
    const { clock, delivery, counts } = deliver(['never']);
    delivery.add(aFailure());
    await clock.advanceAndSettle(2000);
    for (let id = 0; id < 1010; id += 1) delivery.add(aRescale({ id: String(id) }));

    expect(counts).toEqual({ dropped: 10 });
  });

  it('sends once more at the end what waits, without a retry', async () => {
    const { clock, delivery, requests, counts, stop } = deliver([refusal()]);
    delivery.add(aRescale());
    await settle();
    await stop();

    expect(requests).toEqual([[0, 1]]);
    expect(counts).toEqual({ failed: 1 });
    expect(clock.pending).toBe(0);
  });
});

describe('the notifier', () => {
  const directory = mkdtempSync(join(tmpdir(), 'notifier-'));
  let server: FakeServer;

  afterEach(async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('sends the wanted events, counts them, never waits and never prints the URL (O9, S27)', async () => {
    const SECRET = 'T0SECRET';
    server = await startServer((response, { url }) =>
      response.writeHead(url.includes(SECRET) ? 400 : 200).end(url),
    );
    writeFileSync(join(directory, 'url'), `${server.url}/${SECRET}`);
    const clock = new ManualClock();
    const feed = createEventFeed('run');
    const counted: string[] = [];
    let output = '';
    const line = (message: string, facts = {}): void =>
      void (output += `${message} ${JSON.stringify(facts)}\n`);
    const ending = new AbortController();
    const notifier = createNotifier({
      receivers: [
        aReceiver({ name: 'all', url: `${server.url}/all` }),
        aReceiver({ name: 'failures', url: `${server.url}/failures`, events: ['failure'] }),
        aReceiver({ name: 'pay', url: `${server.url}/pay`, namespaces: ['pay'] }),
        aReceiver({ name: 'broken', format: 'slack', url: null, urlFile: join(directory, 'url') }),
      ],
      feed,
      ledger: createLedger(),
      clock,
      log: { debug: line, info: line, warn: line, error: line },
      counters: { count: (...of) => void counted.push(of.join(' ')) },
    });
    const running = notifier.run(ending.signal);

    feed.publish(rescaleEvent());
    feed.publish(rescaleEvent('pay'));
    feed.publish(failureEvent('web'));
    // `publish` only queues: nothing has been sent when it returns.
    expect(server.requests).toEqual([]);
    await clock.advanceAndSettle(1000);
    await eventually(() => counted.length === 4, 'the first requests');
    ending.abort();
    await running;

    expect(counted.sort()).toEqual(['all sent 3', 'broken failed 3', 'failures sent 1', 'pay sent 1']);
    expect(output).toContain('failed to send notifications {"receiver":"broken","why":"rejected"');
    expect(output).not.toContain(SECRET);
    expect(output).not.toContain('127.0.0.1');
    feed.publish(rescaleEvent());
    expect(clock.pending).toBe(0);
  });
});
