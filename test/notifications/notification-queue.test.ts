import { describe, expect, it } from '@jest/globals';
import { createNotificationQueue } from '../../src/notifications/notification-queue.js';
import { aFailure, aRescale } from './builders.js';

const LATER = 1e9;
const failing = aFailure();
const recovered = aFailure({ failing: false, message: 'FailedGetResourceMetric is gone' });

describe('the queue of notifications', () => {
  it('groups the events of a second', () => {
    const queue = createNotificationQueue();
    queue.add(aRescale({ id: 'a' }), 0);
    queue.add(aRescale({ id: 'b' }), 400);

    expect(queue.dueMs()).toBe(1000);
    expect(queue.take(1000, 50).map(({ id }) => id)).toEqual(['a']);
    expect(queue.take(1400, 50).map(({ id }) => id)).toEqual(['b']);
    expect(queue.dueMs()).toBeNull();
  });

  it('takes as many as a request may have', () => {
    const queue = createNotificationQueue();
    for (let id = 0; id < 5; id += 1) queue.add(aRescale({ id: String(id) }), 0);

    expect(queue.take(LATER, 3).map(({ id }) => id)).toEqual(['0', '1', '2']);
    expect(queue.take(LATER, 3).map(({ id }) => id)).toEqual(['3', '4']);
  });

  it('has at most 1,000 and drops the oldest (O10)', () => {
    const queue = createNotificationQueue();
    const dropped = Array.from({ length: 1003 }, (_, id) => queue.add(aRescale({ id: String(id) }), 0));

    expect(dropped.reduce((sum, one) => sum + one, 0)).toBe(3);
    const taken = queue.take(LATER, 2000);
    expect([taken.length, taken[0]?.id]).toEqual([1000, '3']);
  });

  it('replaces a waiting failure of the same subject, and forgets one that ends before it was sent (O11)', () => {
    const queue = createNotificationQueue();
    queue.add(failing, 0);
    queue.add(aFailure({ message: 'FailedGetPodsMetric' }), 1);
    queue.add(aFailure({ subject: 'AbleToScale' }), 2);
    queue.add(aFailure({ subject: 'AbleToScale', failing: false }), 3);

    expect(queue.take(LATER, 50)).toEqual([aFailure({ message: 'FailedGetPodsMetric' })]);
  });

  it('reports a failure that comes and goes at most once a minute, and its last state (O11)', () => {
    const queue = createNotificationQueue();
    queue.add(failing, 0);
    expect(queue.take(1000, 50)).toEqual([failing]);
    queue.add(recovered, 2000);
    queue.add(failing, 3000);
    queue.add(recovered, 4000);

    expect(queue.take(60_999, 50)).toEqual([]);
    expect(queue.take(61_000, 50)).toEqual([recovered]);
    queue.add(recovered, 62_000);
    expect(queue.take(LATER, 50)).toEqual([]);
  });

  it('sends the end of a failure that is just being sent', () => {
    const queue = createNotificationQueue();
    queue.add(failing, 0);
    queue.take(1000, 50);
    queue.add(recovered, 1001);

    expect(queue.take(LATER, 50)).toEqual([recovered]);
  });

  it('does not send the end of a failure that could not be sent', () => {
    const queue = createNotificationQueue();
    queue.add(failing, 0);
    queue.markLost(queue.take(1000, 50));
    queue.add(recovered, 2000);

    expect(queue.dueMs()).toBeNull();
  });
});
