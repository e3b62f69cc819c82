import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import {
  apiPod,
  bookmark,
  closedWatch,
  cut,
  errorEvent,
  event,
  list,
  openWatch,
  status,
  type Answer,
} from '../fake-api-server.js';
import { startReflector } from './reflector-fixture.js';

/** A change of one of four pods; their order is that of their versions. */
interface Change {
  readonly pod: number;
  readonly isDeleted: boolean;
}

/** The answer of the server to one watch: N events, then an end. */
interface Episode {
  readonly events: number;
  readonly end: 'close' | 'reset' | 'gone' | 'error' | 'garbage' | 'refuse' | 'repeat';
}

const CHANGES = fc.array(fc.record({ pod: fc.nat(3), isDeleted: fc.boolean() }), {
  minLength: 1,
  maxLength: 12,
});
const EPISODES = fc.array(
  fc.record({
    events: fc.nat(5),
    end: fc.constantFrom<Episode['end']>('close', 'reset', 'gone', 'error', 'garbage', 'refuse', 'repeat'),
  }),
  { maxLength: 6 },
);

/** Builds the history of a server that was empty at version 1; a deletion of a missing pod becomes an ADDED. */
function historyOf(changes: readonly Change[]) {
  const alive = new Map<string, number>();
  const events: unknown[] = [];
  const states: (readonly [string, number][])[] = [[]];
  changes.forEach(({ pod, isDeleted }, index) => {
    const name = `pod-${pod}`;
    const version = index + 2;
    const object = apiPod({ name, resourceVersion: String(version) });
    if (isDeleted && alive.delete(name)) events.push(event('DELETED', object));
    else {
      events.push(event(alive.has(name) ? 'MODIFIED' : 'ADDED', object));
      alive.set(name, version);
    }
    states.push([...alive]);
  });
  return { events, states };
}

function endOf(episode: Episode, sent: readonly unknown[], last: number): Answer {
  const write = (...more: readonly unknown[]) => openWatch(...sent, ...more);
  switch (episode.end) {
    case 'close':
      return closedWatch(...sent);
    case 'gone':
      return write(errorEvent(410, 'Expired'));
    case 'error':
      return write(errorEvent(500, 'InternalError'));
    case 'repeat':
      return closedWatch(...sent, ...sent.slice().reverse(), bookmark(String(last)));
    case 'refuse':
      return status(503, 'away');
    case 'garbage':
      return (response, request) => {
        write()(response, request);
        response.write('{"type": nonsense}\n');
      };
    case 'reset':
      return (response, request) => {
        write()(response, request);
        setImmediate(() => cut(response, request));
      };
    default:
      return episode.end satisfies never;
  }
}

describe('a reflector', () => {
  it('holds the objects of the server after any changes and any ends of watches', async () => {
    await fc.assert(
      fc.asyncProperty(CHANGES, EPISODES, fc.nat(12), async (changes, episodes, listedAt) => {
        const { events, states } = historyOf(changes);
        const newest = events.length;
        const left = [...episodes];
        // The server changes meanwhile: at each list it has advanced a little.
        let now = Math.min(listedAt, newest);
        const fixture = await startReflector({
          lists: [
            (response, request) => {
              const pods = (states[now] ?? []).map(([name, version]) =>
                apiPod({ name, resourceVersion: String(version) }),
              );
              list(String(now + 1), pods)(response, request);
            },
          ],
          watches: [
            (response, request) => {
              const from = Number(request.query['resourceVersion']) - 1;
              const episode = left.shift();
              now = episode === undefined ? newest : Math.min(newest, Math.max(now, from + episode.events));
              const sent = events.slice(from, now);
              const answer = episode === undefined ? openWatch(...sent) : endOf(episode, sent, now + 1);
              answer(response, request);
            },
          ],
        });
        const shown = () =>
          [0, 1, 2, 3].map((pod) => fixture.store.get('shop', `pod-${pod}`)?.resourceVersion ?? null);
        const model = new Map(states[newest]);
        const expected = [0, 1, 2, 3].map((pod) => model.get(`pod-${pod}`)?.toString() ?? null);

        try {
          for (
            let turn = 0;
            turn < 60 && (left.length > 0 || fixture.watches() <= episodes.length);
            turn += 1
          )
            await fixture.clock.advanceAndSettle(10_000);
          for (let turn = 0; turn < 40 && String(shown()) !== String(expected); turn += 1)
            await fixture.clock.advanceAndSettle(100);

          expect(shown()).toEqual(expected);
        } finally {
          await fixture.stop();
        }
      }),
      { numRuns: 40 },
    );
  });
});
