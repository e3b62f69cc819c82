import { describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { AT, after, fleetOf, overviewOf, rowOf, serviceOf, stateOf } from './support/answers.js';
import { section } from './support/browser.js';
import type { FakeAnswers } from './support/fake-service.js';
import { AT_MAXIMUM, CONFLICT, HEALTHY, LARGE, UNREAD } from './support/scaler-stories.js';
import { podsSample, tellStory, totalSample } from './support/scaler-story.js';
import type { Story } from './support/scaler-story.js';
import { useStage } from './support/stage.js';

const stage = useStage();

const SCALER = { hash: '#/scalers/shop/web' };
const PHONE = { width: 390, height: 844 };

function answersOf(story: Story): FakeAnswers {
  return { overview: () => overviewOf([rowOf()]), service: () => serviceOf(), others: tellStory(story) };
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
}

/** Returns the edges of elements, in whole pixels. */
async function boxesOf(elements: Locator): Promise<readonly Box[]> {
  await elements.first().waitFor();
  const boxes = await Promise.all((await elements.all()).map(async (one) => one.boundingBox()));
  return boxes.map((box) => ({
    left: Math.round(box?.x ?? -1),
    right: Math.round((box?.x ?? -1) + (box?.width ?? 0)),
    top: Math.round(box?.y ?? -1),
  }));
}

describe('the page of a scaler', () => {
  it('has the values of a narrow table in one column, "4.667 per pod" too', async () => {
    const { page } = await stage.open(answersOf(HEALTHY), { ...SCALER, ...PHONE });
    await section(page, 'Last decision').locator('summary').first().click();
    const cells = section(page, 'Last decision').locator('.table td');

    const values = await boxesOf(cells.locator('> *'));

    expect(values).toHaveLength(10);
    expect(new Set(values.map(({ left }) => left)).size).toBe(1);
    expect(values[0]?.left).toBeGreaterThan(100);
  });

  it('has the title and the buttons for changes of the charts in one line on a phone, and a plot of 260 pixels', async () => {
    const { page } = await stage.open(answersOf(HEALTHY), { ...SCALER, ...PHONE });
    const charts = section(page, 'Replicas');

    const [buttons] = await boxesOf(charts.getByRole('group', { name: 'Changes' }));
    const [ranges] = await boxesOf(charts.getByRole('group', { name: 'Range of the charts' }));
    const [plot] = await boxesOf(charts.locator('.u-over'));
    const [track] = await boxesOf(charts.locator('.limit-track'));
    const [title] = await boxesOf(charts.getByRole('heading', { name: 'Replicas' }));

    expect(buttons?.left).toBeGreaterThan(title?.right ?? 0);
    expect(ranges?.top).toBeGreaterThan(buttons?.top ?? 0);
    expect((plot?.right ?? 0) - (plot?.left ?? 0)).toBeGreaterThanOrEqual(260);
    expect([track?.left, track?.right]).toEqual([plot?.left, plot?.right]);
  });

  it('has no gap below the charts, next to a decision that is higher', async () => {
    const options = { hash: `${SCALER.hash}?at=${AT}`, width: 1440, height: 900 };
    const { page } = await stage.open(answersOf(HEALTHY), options);
    await section(page, /^Decision at/)
      .getByText('Largest proposal')
      .waitFor();

    const [charts] = await boxesOf(section(page, 'Replicas'));
    const [whatIf] = await boxesOf(section(page, 'What if'));
    const [decision] = await boxesOf(section(page, /^Decision at/));
    const height = (await section(page, 'Replicas').boundingBox())?.height ?? 0;

    expect([whatIf?.left, whatIf?.right]).toEqual([charts?.left, charts?.right]);
    expect((whatIf?.top ?? 0) - (charts?.top ?? 0) - Math.round(height)).toBeLessThan(20);
    expect([decision?.top, (decision?.left ?? 0) > (charts?.right ?? 0)]).toEqual([charts?.top, true]);
  });

  it('shows the decision as it is next to the one with the change, over the whole width', async () => {
    const { page } = await stage.open(answersOf(AT_MAXIMUM), { ...SCALER, width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Try another document' }).click();
    await page.getByLabel('maxReplicas', { exact: true }).fill('20');
    await page.locator('.what-if-past').waitFor();

    const [asItIs, changed] = await boxesOf(page.locator('.what-if-decision'));
    const [past] = await boxesOf(page.locator('.what-if-past'));
    const [card] = await boxesOf(section(page, 'What if'));
    const [bar] = await boxesOf(page.locator('.what-if-decision .waterfall-track'));

    expect(asItIs?.top).toBe(changed?.top);
    expect(asItIs?.right).toBeLessThan(changed?.left ?? 0);
    expect([bar?.left, bar?.right]).toEqual([asItIs?.left, asItIs?.right]);
    expect((card?.right ?? 0) - (changed?.right ?? 0)).toBeLessThan(24);
    expect(past?.left).toBe(asItIs?.left);
  });

  it('has no arrow at the end of a line: "5 -> 10" is in one line at 1280 pixels', async () => {
    const { page } = await stage.open(answersOf(AT_MAXIMUM), { ...SCALER, width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Try another document' }).click();
    await page.getByLabel('maxReplicas', { exact: true }).fill('20');
    const changed = page.locator('.what-if-decision').nth(1);
    await changed.waitFor();

    expect(await changed.locator('h3').innerText()).toMatch(/: 5\u00a0\u2192\u00a010$/);
    expect(await page.locator('.what-if').innerText()).not.toContain('->');
  });

  it('has the headline in one line on a phone', async () => {
    const { page } = await stage.open(answersOf(AT_MAXIMUM), { ...SCALER, ...PHONE });
    const box = await page.getByRole('heading', { name: 'AtMaximum: stays at 5, not 10' }).boundingBox();

    expect(box?.height).toBeLessThan(30);
  });

  it('has no empty part after now in its charts without a forecast', async () => {
    const { page } = await stage.open(answersOf(LARGE), SCALER);
    await page.locator('.forecast-strip').getByText('There is no forecast yet').waitFor();
    const slider = page.getByRole('slider', { name: 'Moment' });

    // A click at 97 % of the width is in the past, so that it selects a decision.
    const over = await page.locator('.chart-slider .u-over').boundingBox();
    await page.mouse.click((over?.x ?? 0) + (over?.width ?? 0) * 0.97, (over?.y ?? 0) + 20);

    await page.getByRole('heading', { name: /^Decision at/ }).waitFor();
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/\d\d:\d\d:\d\d: 100 current/);
  });

  it('has bars with one scale, whatever the widths of their counts are', async () => {
    const spec = { ...HEALTHY.spec, maxReplicas: 20_000 };
    const story: Story = {
      ...HEALTHY,
      spec,
      rounds: 1,
      samples: (round) => [podsSample(round, 1), totalSample(round, 400_000)],
    };
    const { page } = await stage.open(answersOf(story), { ...SCALER, width: 1280 });
    const tracks = page.locator('.waterfall-track');
    await tracks.nth(2).waitFor();

    expect(new Set((await boxesOf(tracks)).map(({ right }) => right)).size).toBe(1);
  });

  it('has a whole decision next to the charts at 1280 pixels', async () => {
    const { page } = await stage.open(answersOf(HEALTHY), { ...SCALER, width: 1280, height: 900 });
    await page.locator('.chart-slider canvas').waitFor();
    const over = await page.locator('.chart-slider .u-over').boundingBox();
    await page.mouse.click((over?.x ?? 0) + (over?.width ?? 0) * 0.35, (over?.y ?? 0) + 20);
    const panel = section(page, /^Decision at/);
    await panel.getByRole('button', { name: 'Copy command' }).waitFor();

    const hidden = `((one) => one.scrollHeight - one.clientHeight)(document.querySelector('.is-pinned > :nth-child(2)'))`;
    expect(await page.evaluate(hidden)).toBe(0);
  });

  it('has no field name of the document that breaks within a word', async () => {
    const { page } = await stage.open(answersOf(LARGE), { ...SCALER, width: 1440, height: 900 });
    const name = section(page, 'Document').locator('dt', { hasText: /containerResource\.target/ });
    await name.waitFor();

    expect(await name.innerText()).toBe('metrics[2].containerResource.target.averageUtilization');
    expect(await name.locator('wbr').count()).toBe(4);
  });

  it('has a conflict in red, and without a decision the bounds of the document', async () => {
    const conflict = await stage.open(answersOf(CONFLICT), SCALER);
    const held = section(conflict.page, 'Conditions').locator('.badge', { hasText: 'Held True' });
    const unread = await stage.open(answersOf(UNREAD), SCALER);
    const legend = section(unread.page, 'Replicas').locator('.chart-legend').first();

    await held.waitFor();
    await legend.waitFor();
    expect(await held.getAttribute('class')).toContain('tone-bad');
    expect(await legend.innerText()).toMatch(/bounds\s*2 to 12\s*▲/);
  });
});

describe('the health', () => {
  it.each([1024, 1280, 1440])('has no hole in a row of cards at %i pixels', async (width) => {
    const { page } = await stage.open({ service: () => serviceOf() }, { hash: '#/health', width });
    const [wide] = await boxesOf(page.locator('.health > .is-wide'));

    const cards = await boxesOf(page.locator('.health > :not(.is-wide)'));

    expect(cards).toHaveLength(3);
    expect(new Set(cards.map(({ top }) => top)).size).toBe(1);
    expect(cards.at(-1)?.right).toBe(wide?.right);
  });
});

describe('the list of scalers', () => {
  it('has whole names at 1280 pixels with all columns', async () => {
    const rows = [rowOf({ namespace: 'checkout', name: 'gateway-0163' })];
    const hash = '#/?columns=replicas%2Ctrend%2Cmetric%2Creason%2Csince%2Cchanged';
    const { page } = await stage.open({ overview: () => overviewOf(rows) }, { width: 1280, hash });
    const name = page.locator('.scaler-row .cell-name a > bdi');
    await name.waitFor();

    const cut = `[...document.querySelectorAll('.scaler-row .cell-name a > *')].filter(
      (one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).display !== 'inline').length`;
    expect(await page.evaluate(cut)).toBe(0);
  });

  it('has the chips of five severities in two lines on a phone: 5, 22, 30, 12 and 531 scalers', async () => {
    const ends = { AtMaximum: 5, Paused: 27, Stabilizing: 57, AtMinimum: 69, OK: 600 } as const;
    const names = Object.keys(ends) as (keyof typeof ends)[];
    const rows = fleetOf(600).map((row, index) => ({
      ...row,
      state: stateOf(names.find((name) => index < ends[name]) ?? 'OK'),
    }));
    const { page } = await stage.open({ overview: () => overviewOf(rows) }, PHONE);

    const chips = await boxesOf(page.locator('.chip'));

    expect(chips).toHaveLength(5);
    expect(new Set(chips.map(({ top }) => top)).size).toBe(2);
  });

  it('has no line with only a dash on a phone', async () => {
    const rows = fleetOf(20).map((row) => ({ ...row, state: stateOf('OK') }));
    const { page } = await stage.open({ overview: () => overviewOf(rows) }, PHONE);
    await page.locator('.scaler-row').first().waitFor();

    expect(await page.locator('.scaler-row .cell-reason:visible').count()).toBe(0);
  });

  it('says that what to do about the worst scaler could not be read, and why', async () => {
    const rows = [rowOf({ state: stateOf('NoData', { cause: 'cpu: no series' }) })];
    const { page } = await stage.open({ overview: () => overviewOf(rows) });

    await page
      .locator('.start-next')
      .getByText(/^What to do could not be read: /)
      .waitFor();
  });
});

describe('the list of scalers', () => {
  it.each([1088, 1152, 1280, 1440])(
    'has no cell that ends outside of its row at %i pixels',
    async (width) => {
      const since = after(-100 * 86_400);
      const rows = [rowOf({ changedAt: since, state: stateOf('PodsNotReady', { cause: 'a cause', since }) })];
      const hash = '#/?columns=replicas%2Ctrend%2Cmetric%2Creason%2Csince%2Cchanged';
      const { page } = await stage.open({ overview: () => overviewOf(rows) }, { width, hash });
      await page.locator('.cell-changed time').waitFor();
      const beyond = `[...document.querySelectorAll('.scaler-row')].flatMap((row) => {
      const end = row.getBoundingClientRect().right - 8;
      return [...row.querySelectorAll('[role] > *')].filter((part) => part.getBoundingClientRect().right > end);
    }).map((part) => part.parentElement.className)`;

      expect(await page.evaluate(beyond)).toEqual([]);
    },
  );

  it('is empty without scalers, and shows the two commands that create one', async () => {
    const { page } = await stage.open({ overview: () => overviewOf([]) });
    await page.getByRole('heading', { name: 'No scalers yet' }).waitFor();

    expect(await page.locator('.what-to-do .snippet-command').allInnerTexts()).toEqual([
      'promscaler new deployment/web --max 10 > web.yaml',
      'kubectl apply -f web.yaml',
    ]);
  });
});
