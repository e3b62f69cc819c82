import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { explainLines } from '../../src/cli/explanation/explain-lines.js';
import { decide } from '../../src/decision/decide.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';

const VECTORS = join(import.meta.dirname, '../vectors');

function readSnapshots(): readonly unknown[] {
  return readdirSync(VECTORS)
    .filter((name) => name.endsWith('.json'))
    .flatMap(
      (name) => JSON.parse(readFileSync(join(VECTORS, name), 'utf8')) as readonly { snapshot: unknown }[],
    )
    .map(({ snapshot }) => snapshot);
}

describe('in the explanation of every vector, one number has one word', () => {
  const explained = readSnapshots().map((json) => {
    const snapshot = parseSnapshot(json);
    const decision = decide(snapshot);
    return { decision, lines: explainLines({ snapshot, decision, status: null, now: snapshot.now }) };
  });

  it('"recommended" is the largest proposal, before any limit', () => {
    for (const { decision, lines } of explained) {
      const text = lines.join('\n');
      const counts = [...text.matchAll(/(\d+) recommended\b/g)].map(([, count]) => Number(count));
      expect([text, new Set(counts).size > 1]).toEqual([text, false]);
      if (counts.length > 0) expect([text, counts[0]]).toEqual([text, decision.recommendedReplicas]);
      expect(text).not.toMatch(/\d wanted|are desired/);
    }
  });

  it('"desired" is the result, and "by LIMIT" what this limit returned', () => {
    for (const { decision, lines } of explained) {
      const text = lines.join('\n');
      for (const [, count] of text.matchAll(/(\d+) desired\b/g))
        expect([text, Number(count)]).toEqual([text, decision.desiredReplicas]);
      for (const [, count, limit] of text.matchAll(/(\d+) by (?!schedule\b)([a-z_]+)\b/g)) {
        const steps = decision.limits.filter((step) => step.limit === limit);
        expect([text, steps.map(({ to }) => to)]).toEqual([text, [Number(count)]]);
      }
    }
  });

  it('no condition speaks of a window that is 0', () => {
    for (const { decision } of explained)
      for (const { reason, message } of decision.conditions)
        if (reason === 'ReadyForNewScale') expect(message).not.toMatch(/its window/);
  });
});
