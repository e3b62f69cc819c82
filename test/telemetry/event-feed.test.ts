import { failed } from '../../src/units/failure.js';
import { describe, expect, it } from '@jest/globals';
import { buildCondition, type ReasonOf } from '../../src/decision/result/condition.js';
import { createEventFeed } from '../../src/telemetry/event-feed.js';
import type { ServiceEvent } from '../../src/telemetry/event-feed.js';
import { createLedger } from '../../src/telemetry/ledger.js';
import { eventsOfCycle } from '../../src/telemetry/feed-events.js';
import { at } from '../support/builders.js';
import { condition, conflictWith, decision, metricResult, record } from './record-builder.js';

const RELOAD: ServiceEvent = { type: 'reload', at: at(0), scalers: 1, errors: 0 };

describe('createEventFeed', () => {
  it('calls listeners until they unsubscribe', () => {
    const feed = createEventFeed('run');
    const heard: string[] = [];
    const stop = feed.subscribe(({ id }) => heard.push(id));

    feed.publish(RELOAD);
    stop();
    feed.publish(RELOAD);

    expect(heard).toEqual(['run-1']);
  });

  it('returns the events after an id while it keeps 2, and null for an older id or that of another run', () => {
    const feed = createEventFeed('run', 2);
    const before = feed.lastId();
    for (let index = 0; index < 4; index += 1) feed.publish(RELOAD);

    const since = (id: string): readonly string[] | undefined => feed.since(id)?.map((one) => one.id);
    expect(since('run-4')).toEqual([]);
    expect(since('run-3')).toEqual(['run-4']);
    expect(since('run-2')).toEqual(['run-3', 'run-4']);
    expect([since('run-1'), since(before), since('run-5'), since('other-3')]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('returns all events after the id before the first one', () => {
    const feed = createEventFeed('run');
    const id = feed.lastId();

    feed.publish(RELOAD);

    expect(feed.since(id)).toHaveLength(1);
  });
});

describe('eventsOfCycle', () => {
  /** Returns `TYPE SUBJECT-OR-OUTCOME` of each event of these cycles, cycle by cycle. */
  function eventsOf(...records: readonly ReturnType<typeof record>[]): readonly (readonly string[])[] {
    const ledger = createLedger();
    return records.map((one) => {
      const { before, after } = ledger.add(one);
      return eventsOfCycle(before, after).map((event) => {
        if (event.type === 'failure') return `${event.failing ? 'failing' : 'over'} ${event.subject}`;
        return event.type === 'decision' ? `decision ${event.outcome.kind}` : event.type;
      });
    });
  }

  it('reports each change of replicas, and nothing for cycles without one', () => {
    const patched = { kind: 'patched', from: 3, to: 5, message: '' } as const;

    expect(eventsOf(record(), record({ outcome: patched }), record({ outcome: patched }), record())).toEqual([
      [],
      ['decision patched'],
      ['decision patched'],
      [],
    ]);
  });

  it('reports pods without a node, but not starting pods or those of a paused rollout', () => {
    const short = (reason: ReasonOf<'TargetReached'>) =>
      record({ conditions: [buildCondition('TargetReached', reason, '')] });

    expect(eventsOf(short('Starting'), short('Unschedulable'), short('RolloutPaused'))).toEqual([
      [],
      ['failing TargetReached'],
      ['over TargetReached'],
    ]);
  });

  it('reports when another writer is detected and when it has stopped', () => {
    const found = record({
      conflictingWriter: conflictWith([], 'another client does it'),
    });

    expect(eventsOf(found, found, record())).toEqual([
      ['failing ConflictingWriter'],
      [],
      ['over ConflictingWriter'],
    ]);
  });

  it('reports a blocked change once, and again when it is a different one', () => {
    const held = { kind: 'dry-run', from: 3, to: 5, message: '' } as const;

    expect(
      eventsOf(record({ outcome: held }), record({ outcome: held }), record({ outcome: { ...held, to: 6 } })),
    ).toEqual([['decision dry-run'], [], ['decision dry-run']]);
  });

  it('reports when a metric fails and when it recovers', () => {
    const failing = record({
      decision: decision({ metrics: [metricResult({ error: failed('missing', 'no series') })] }),
    });

    expect(eventsOf(record(), failing, failing, record())).toEqual([
      [],
      ['failing Resource/cpu'],
      [],
      ['over Resource/cpu'],
    ]);
  });

  it('reports a condition that degrades and recovers, but not that of a forbidden window', () => {
    const bad = condition({ status: 'False', reason: 'FailedGetScale' });
    const window = condition({ status: 'False', reason: 'BackoffDownscale' });

    expect(
      eventsOf(
        record(),
        record({ conditions: [bad] }),
        record({ conditions: [bad] }),
        record({ conditions: [window] }),
      ),
    ).toEqual([[], ['failing AbleToScale'], [], ['over AbleToScale']]);
  });

  it('reports a failed change once', () => {
    const failed = { kind: 'failed', from: 3, to: 5, message: 'forbidden' } as const;

    expect(eventsOf(record({ outcome: failed }), record({ outcome: failed }))).toEqual([
      ['failing change'],
      [],
    ]);
  });
});
