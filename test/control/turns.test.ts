import { describe, expect, it } from '@jest/globals';
import { countTurns, createTurns } from '../../src/control/turns.js';
import { settle } from '../support/manual-clock.js';

/** Asks for `count` turns and notes who has got one. */
function ask(places: number, count: number) {
  const takeTurn = createTurns(places);
  const got: number[] = [];
  const giveBack: (() => void)[] = [];
  for (let index = 0; index < count; index += 1) {
    void takeTurn().then((done) => {
      got.push(index);
      giveBack.push(done);
    });
  }
  return { got, giveBack, takeTurn };
}

describe('createTurns with 2 places', () => {
  it('lets 2 of 4 take part at once and the others wait', async () => {
    const { got } = ask(2, 4);

    await settle();

    expect(got).toEqual([0, 1]);
  });

  it('lets the others in as places are given back, in the order they came', async () => {
    const { got, giveBack } = ask(2, 4);
    await settle();

    giveBack[1]?.();
    await settle();
    expect(got).toEqual([0, 1, 2]);
    giveBack[0]?.();
    await settle();
    expect(got).toEqual([0, 1, 2, 3]);
  });

  it('has both places again when all were given back', async () => {
    const { giveBack, got, takeTurn } = ask(2, 3);
    await settle();
    giveBack[0]?.();
    await settle();
    giveBack[1]?.();
    giveBack[2]?.();

    await takeTurn();
    await takeTurn();

    expect(got).toEqual([0, 1, 2]);
  });
});

describe('countTurns', () => {
  it('counts those that have begun and are not given back, not those that wait', async () => {
    const { takeTurn, underWay } = countTurns(createTurns(1));
    const seen = [underWay()];
    const first = await takeTurn();
    const second = takeTurn();
    await settle();
    seen.push(underWay());

    first();
    const done = await second;
    seen.push(underWay());
    done();

    expect([...seen, underWay()]).toEqual([0, 1, 1, 0]);
  });
});
