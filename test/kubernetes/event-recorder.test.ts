import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { ScaleTarget, TargetEvent } from '../../src/kubernetes/api/types.js';
import { eventually, settle } from '../support/manual-clock.js';
import { ClusterFixture, WEB } from './cluster-fixture.js';
import { cut, json, status } from './fake-api-server.js';

const EVENTS = '/apis/events.k8s.io/v1/namespaces/shop/events';

const TARGET: ScaleTarget = {
  ref: WEB,
  namespace: 'shop',
  uid: 'uid-web',
  resourceVersion: '10',
  specReplicas: 3,
  statusReplicas: 3,
  selector: [],
  annotations: {},
};
const RESCALED: TargetEvent = { type: 'Normal', reason: 'SuccessfulRescale', message: 'New size: 5' };
const FAILED: TargetEvent = { type: 'Warning', reason: 'FailedGetScale', message: 'not found' };

let fixture: ClusterFixture;

beforeEach(async () => {
  fixture = await ClusterFixture.create();
  fixture.fake.on('POST', EVENTS, json({ kind: 'Event' }));
});

afterEach(() => fixture.stop());

async function recordAndWait(event: TargetEvent, requests: number): Promise<void> {
  fixture.cluster.recordEvent(TARGET, event);
  await eventually(() => fixture.reports.length >= requests);
  await settle();
}

describe('recordEvent', () => {
  it('creates an event of events.k8s.io on the target', async () => {
    await recordAndWait(RESCALED, 1);

    expect(fixture.fake.requests[0]?.body).toEqual({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: expect.stringMatching(/^web\.[0-9a-f]+\.\d+$/), namespace: 'shop' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'promscaler',
      reportingInstance: 'promscaler-0',
      action: 'Scaling',
      type: 'Normal',
      reason: 'SuccessfulRescale',
      note: 'New size: 5',
      regarding: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        namespace: 'shop',
        name: 'web',
        uid: 'uid-web',
        resourceVersion: '10',
      },
    });
  });

  it('counts an equal event up within 360 s, and creates a new one after 361 s or for another message', async () => {
    await recordAndWait(RESCALED, 1);
    const { metadata } = fixture.fake.requests[0]?.body as { metadata: { name: string } };
    fixture.fake.on('PATCH', `${EVENTS}/${metadata.name}`, json({ kind: 'Event' }));

    fixture.clock.advance(360_000);
    await recordAndWait(RESCALED, 2);
    await recordAndWait({ ...RESCALED, message: 'New size: 6' }, 3);
    fixture.clock.advance(361_000);
    await recordAndWait(RESCALED, 4);

    expect(fixture.fake.requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST', 'POST']);
    expect(fixture.fake.requests[1]?.body).toEqual({
      series: { count: 2, lastObservedTime: '2026-01-01T00:06:00.000000Z' },
    });
  });

  it('creates another Event if the first one was deleted', async () => {
    await recordAndWait(RESCALED, 1);
    await recordAndWait(RESCALED, 3);

    expect(fixture.fake.requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
  });

  it('limits a target to 25 events at once and one more every five minutes', async () => {
    const burst = (from: number) => {
      for (let index = 0; index < 30; index += 1)
        fixture.cluster.recordEvent(TARGET, { ...FAILED, message: `failure ${from + index}` });
    };
    burst(0);
    await eventually(() => fixture.reports.length === 25);
    await settle();
    fixture.clock.advance(300_000);
    burst(100);
    await eventually(() => fixture.reports.length === 26);
    await settle();

    expect(fixture.fake.requests).toHaveLength(26);
  });

  it('leaves five events of a target that is rescaled all the time: 20 rescales, 5 failures, then one every five minutes', async () => {
    const record = (event: TargetEvent): void => {
      for (let index = 0; index < 30; index += 1)
        fixture.cluster.recordEvent(TARGET, { ...event, message: `${event.message} ${index}` });
    };
    record(RESCALED);
    record(FAILED);
    await eventually(() => fixture.reports.length === 25);
    fixture.clock.advance(300_000);
    record({ ...RESCALED, message: 'later' });
    record({ ...FAILED, message: 'later' });
    await eventually(() => fixture.reports.length === 26);
    await settle();

    const reasons = fixture.fake.requests.map(({ body }) => (body as { readonly reason: string }).reason);
    expect(reasons).toEqual([
      ...Array.from({ length: 20 }, () => 'SuccessfulRescale'),
      ...Array.from({ length: 6 }, () => 'FailedGetScale'),
    ]);
  });

  it('reports the 25 Events of a burst of 30 that were written, and none of those that were dropped', async () => {
    const written: number[] = [];
    for (let index = 0; index < 30; index += 1)
      fixture.cluster.recordEvent(TARGET, { ...FAILED, message: `failure ${index}` }, () =>
        written.push(index),
      );
    expect(written).toEqual([]);

    await eventually(() => written.length >= 25);
    await settle();

    expect(written).toEqual(Array.from({ length: 25 }, (_, index) => index));
  });

  it('does not report an Event that the API server rejects', async () => {
    const written: string[] = [];
    fixture.fake.on('POST', EVENTS, status(500, 'InternalError'));
    fixture.cluster.recordEvent(TARGET, RESCALED, () => written.push('rejected'));
    await eventually(() => fixture.reports.length >= 1);
    fixture.fake.on('POST', EVENTS, json({ kind: 'Event' }));
    fixture.cluster.recordEvent(TARGET, { ...RESCALED, message: 'New size: 6' }, () =>
      written.push('accepted'),
    );
    await eventually(() => written.length === 1);

    expect(written).toEqual(['accepted']);
  });

  it('has no control or bidi characters of a message', async () => {
    await recordAndWait({ ...RESCALED, message: 'by \u202egnp \u009b31m' }, 1);

    expect(fixture.fake.requests[0]?.body).toMatchObject({ note: 'by \ufffdgnp \ufffd31m' });
  });

  it('truncates a message to 1 kB between two characters', async () => {
    await recordAndWait({ ...RESCALED, message: 'ü'.repeat(800) }, 1);

    const { note } = fixture.fake.requests[0]?.body as { note: string };
    expect(note).toBe(`${'ü'.repeat(510)}...`);
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
  });

  it('never throws, and sends the next event after a failure', async () => {
    fixture.fake.on('POST', EVENTS, cut, json({ kind: 'Event' }));

    await recordAndWait(RESCALED, 1);
    await recordAndWait({ ...RESCALED, message: 'New size: 6' }, 2);

    expect(fixture.fake.requests).toHaveLength(2);
  });
});
