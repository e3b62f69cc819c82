import { describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { STATE_NAMES, type Severity } from '../../src/decision/severity.js';
import { viewRow } from '../../src/server/overview/overview-rows.js';
import { createRecords } from '../../src/telemetry/records.js';
import { rejectionsOf } from '../../src/telemetry/rejections.js';
import { addSeconds, formatInstant } from '../../src/units/time.js';
import { problem } from '../control/status/status-builder.js';
import { decided, outcome } from '../telemetry/state-records.js';
import { T0 } from '../support/builders.js';
import { ManualClock } from '../support/manual-clock.js';
import { STATE_CASES } from '../telemetry/state-cases.js';
import { invalidRow, overviewOf, serviceOf } from './support/answers.js';
import type { FakeAnswer } from './support/fake-service.js';
import { answersOf } from './support/scaler-story.js';
import { useStage } from './support/stage.js';

const stage = useStage();

const COLORS: Readonly<Record<Severity, string>> = {
  'cannot-follow': 'red',
  held: 'amber',
  waiting: 'blue',
  idle: 'grey',
  ok: 'grey',
};

const records = createRecords(new ManualClock());
const CASES = STATE_CASES.map(([, state, , make, { rejection } = {}], index) => {
  const key = `shop/s${index}`;
  records.ledger.add(make(`s${index}`));
  return { state, key, rejection };
});
const rejected = CASES.flatMap(({ key, rejection: message }) =>
  message === undefined ? [] : [problem({ message, path: 'spec.metric', scaler: key })],
);
records.ledger.setRejections(rejectionsOf(rejected), T0);
/** A scaler in each state. Invalid is the document without a valid version. */
const ROWS = STATE_NAMES.map((name) => {
  const found = records.ledger.get(CASES.find(({ state }) => state === name)?.key ?? '');
  return found === null ? invalidRow({ name: 'invalid' }) : viewRow(found, { replicas: [] });
});
const at = formatInstant(T0);
const answers = {
  overview: () => overviewOf(ROWS, { at }),
  service: () => serviceOf(),
  others: Object.assign({}, ...ROWS.map(({ name }) => answersOf(records, `shop/${name}`))) as Record<
    string,
    FakeAnswer
  >,
};

interface Window {
  readonly getComputedStyle: (element: unknown) => { readonly color: string };
}

/** Returns the name of the text color of an element. */
async function colorOf(element: Locator): Promise<string> {
  const color = await element.evaluate(
    (found) => (globalThis as unknown as Window).getComputedStyle(found).color,
  );
  const [red = 0, green = 0, blue = 0] = (color.match(/\d+/g) ?? []).map(Number);
  const range = Math.max(red, green, blue) - Math.min(red, green, blue);
  if (range < 40) return 'grey';
  if (blue > red) return 'blue';
  return green - blue > range / 3 ? 'amber' : 'red';
}

function textOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

describe.each(['light', 'dark'] as const)(`the ${STATE_NAMES.length} states on a %s page`, (scheme) => {
  it('have their name, their cause and the color of their severity in the list', async () => {
    const { page } = await stage.open(answers, { at, scheme, width: 1440, height: 1600 });
    await page
      .locator('.scaler-row')
      .nth(STATE_NAMES.length - 1)
      .waitFor();

    for (const { name, state } of ROWS) {
      const row = page
        .locator('.scaler-row')
        .filter({ has: page.locator(`.cell-name bdi:text-is("${name}")`) });
      expect(await row.locator('.cell-state').innerText()).toBe(state.name);
      expect([state.name, await colorOf(row.locator('.cell-state > *'))]).toEqual([
        state.name,
        COLORS[state.severity],
      ]);
      const [start = ''] = (state.cause ?? '').split(/ (?:at|until|in) \d{4}|: | \d{4}-/);
      expect(textOf(await row.innerText())).toContain(start);
    }
  });
});

it.each(ROWS.map((row) => [row.state.name, row] as const))(
  'the page of a scaler begins with its state %s, in the color of the severity',
  async (name, row) => {
    const { page } = await stage.open(answers, { at, hash: `#/scalers/shop/${row.name}` });
    const verdict = page.locator('.scaler-verdict');
    await verdict.waitFor();

    expect(textOf(await verdict.locator('h2').innerText())).toMatch(new RegExp(`^${name}\\b`));
    expect(await colorOf(verdict.locator('h2 .icon'))).toBe(COLORS[row.state.severity]);
  },
);

it('a viewer whose clock is 5 s behind sees no time of the past in the future', async () => {
  const key = CASES.find(({ state }) => state === 'OK')?.key ?? '';
  records.ledger.add(decided({ percent: 83, record: outcome('patched', 6) })(key.replace('shop/', '')));
  const early = formatInstant(addSeconds(T0, -5));
  const { page } = await stage.open(answers, { at: early, hash: `#/scalers/${key}` });
  const facts = page.locator('.scaler-facts');
  await facts.waitFor();

  expect(textOf(await facts.innerText())).toMatch(/Last scale-up now/);
});
