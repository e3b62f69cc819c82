import { describe, expect, it } from '@jest/globals';
import { createSentEvents } from '../../src/telemetry/sent-events.js';
import { at } from '../support/builders.js';

const event = (seconds: number, message = 'New size: 5') =>
  ({ at: at(seconds), type: 'Normal', reason: 'SuccessfulRescale', message }) as const;

describe('sent Events', () => {
  it('are kept per scaler, newest first, and equal ones are counted', () => {
    const events = createSentEvents();
    events.add('shop/web', event(0));
    events.add('shop/web', event(15, 'New size: 6'));
    events.add('shop/web', event(30));
    events.add('shop/api', event(45));

    expect(events.read('shop/web')).toEqual([
      { ...event(30), count: 2 },
      { ...event(15, 'New size: 6'), count: 1 },
    ]);
    expect(events.read('shop/none')).toEqual([]);
  });

  it('keeps the newest 50 of a scaler and 1,000 characters of a message', () => {
    const events = createSentEvents();
    for (let index = 0; index < 51; index += 1)
      events.add('shop/web', event(index, `${index}${'x'.repeat(1000)}`));

    const kept = events.read('shop/web');

    expect([kept.length, kept[0]?.at, kept.at(-1)?.at, kept[0]?.message.length]).toEqual([
      50,
      at(50),
      at(1),
      1000,
    ]);
  });

  it('shares the total, with at least 3 per scaler', () => {
    const events = createSentEvents({ total: 10 });
    for (let scaler = 0; scaler < 5; scaler += 1)
      for (let index = 0; index < 5; index += 1) events.add(`shop/${scaler}`, event(index, String(index)));

    expect(events.read('shop/0').length).toBe(5);
    expect(events.read('shop/4').length).toBe(3);
  });

  it('forgets a removed scaler', () => {
    const events = createSentEvents();
    events.add('shop/web', event(0));
    events.remove('shop/web');

    expect(events.read('shop/web')).toEqual([]);
  });
});
