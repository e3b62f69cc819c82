import { describe, expect, it } from '@jest/globals';
import { failingService, invalidRow, overviewOf, rowOf, stateOf } from './support/answers.js';
import { findBarriers, overflowOf } from './support/browser.js';
import { useStage } from './support/stage.js';
import { ONE_TROUBLE, TROUBLED_FLEETS } from './support/troubled-fleets.js';

const stage = useStage();

const NAMED = Object.entries(TROUBLED_FLEETS).map(([what, fleet]) => ({ what, ...fleet }));

describe('the overview of 600 scalers, five of which cannot follow', () => {
  it.each(NAMED)('names the worst, its cause and the next command: $what', async (fleet) => {
    const { page } = await stage.open(fleet.answers, { height: 720 });
    const card = page.getByRole('region', { name: 'Cannot follow: worst of 5' });

    const command = await card.locator('.snippet-command').first().innerText();

    expect(command).toMatch(fleet.command);
    expect((await card.getByRole('link').innerText()).replace(/\s/g, '')).toBe(fleet.worst);
    expect(await card.locator('.start-why > .sentence').innerText()).toMatch(fleet.cause);
    const box = await card.getByRole('button', { name: /^Copy/ }).first().boundingBox();
    expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThan(390);
    expect(await page.title()).toBe('5 cannot follow - promscaler');
    expect([await findBarriers(page), await overflowOf(page)]).toEqual([[], 0]);
  });

  it.each(NAMED)(
    'shows the worst, its cause and the whole first command on one screen of a phone: $what',
    async (fleet) => {
      const { page } = await stage.open(fleet.answers, { width: 390, height: 844 });
      const card = page.getByRole('region', { name: 'Cannot follow: worst of 5' });
      const copy = card.getByRole('button', { name: /^Copy/ }).first();
      await copy.waitFor();

      const ends = await Promise.all(
        [copy, card.locator('.snippet-command').first()].map(async (part) => {
          const box = await part.boundingBox();
          return (box?.y ?? 9999) + (box?.height ?? 0);
        }),
      );
      expect(Math.max(...ends)).toBeLessThan(700);
    },
  );

  it('goes from the worst to the next one, and back', async () => {
    const { page } = await stage.open(NAMED[0]?.answers ?? {});
    const card = page.locator('.start-here');
    await card.getByRole('button', { name: 'Next' }).click();

    await card.getByRole('heading', { name: 'Cannot follow: 2 of 5' }).waitFor();
    expect((await card.getByRole('link').innerText()).replace(/\s/g, '')).toBe('web/blog');
    await card.getByText('kubectl get -A deployment,statefulset').waitFor();

    await card.getByRole('button', { name: 'Previous' }).click();
    await card.getByText('maxReplicas: 16', { exact: true }).waitFor();
    expect((await card.locator('.start-why').innerText()).replace(/\s+/g, ' ')).toBe(
      '16 recommended, maxReplicas is 8 cpu is at 190 % of its target',
    );
    expect((await page.locator('.section-row').first().innerText()).replace(/\s+/g, ' ')).toBe(
      'Cannot follow 5 highest load first; a missing target or an unknown load counts as 130 %',
    );
    expect(await card.getByRole('button', { name: 'Previous' }).isDisabled()).toBe(true);
  });
});

const WIDTHS = [
  { width: 1440, most: 310 },
  { width: 1280, most: 310 },
  // The whole command is visible, not only its beginning.
  { width: 390, most: 560 },
];

describe('the overview with one scaler that cannot follow', () => {
  it.each(WIDTHS)('has a card of less than $most pixels at $width pixels', async ({ width, most }) => {
    const { page } = await stage.open(ONE_TROUBLE, { width, height: 900 });
    const card = page.getByRole('region', { name: 'Cannot follow: 1 scaler' });
    await card.locator('.start-next .remedy').first().waitFor();

    expect((await card.boundingBox())?.height).toBeLessThan(most);
    expect((await card.getByRole('heading').boundingBox())?.height).toBeLessThan(40);
    expect(await overflowOf(page)).toBe(0);
  });

  it('says in one line that what to do could not be read', async () => {
    const answers = { ...ONE_TROUBLE, others: {} };
    const { page } = await stage.open(answers, { width: 1440, height: 900 });

    const line = page.locator('.start-next li');
    await line.waitFor();

    expect(await line.innerText()).toMatch(/^What to do could not be read: /);
    expect((await line.boundingBox())?.height).toBeLessThan(30);
  });
});

describe('a document that never had a valid version', () => {
  it('is in the list and in the card like other scalers that cannot follow, with the command that validates it', async () => {
    const { page } = await stage.open({ overview: () => overviewOf([rowOf({ name: 'api' }), invalidRow()]) });
    const card = page.getByRole('region', { name: 'Cannot follow: 1 scaler' });

    expect(await card.locator('.snippet-command').innerText()).toBe(
      'promscaler validate config/scalers/web.yaml',
    );
    expect(await card.innerText()).toContain('Nothing is scaled: no version of the document is valid');
    const row = page.locator('.scaler-row').first();
    const text = await row.innerText();
    for (const part of ['Invalid', 'did you mean maxReplicas?', 'No value']) expect(text).toContain(part);
  });

  it('has a page with the same cause and command', async () => {
    const overview = () => overviewOf([invalidRow()]);
    const { page } = await stage.open({ overview }, { hash: '#/scalers/shop/web' });
    const card = page.getByRole('region', { name: 'State' });
    await card.waitFor();

    expect(await card.innerText()).toContain('spec.maxReplica: unknown field; did you mean maxReplicas?');
    expect(await card.locator('.snippet-command').innerText()).toBe(
      'promscaler validate config/scalers/web.yaml',
    );
    expect(await findBarriers(page)).toEqual([]);
  });
});

describe('the overview in which many scalers have the same trouble', () => {
  it('says how many others have it', async () => {
    const rows = ['a', 'b', 'c', 'd'].map((name) =>
      rowOf({ name, metric: null, state: stateOf('NoData', { cause: 'timeout for cpu' }) }),
    );
    const { page } = await stage.open({ overview: () => overviewOf(rows) });

    expect(await page.locator('.start-here').innerText()).toContain('3 other scalers have the same cause');
  });

  it('leaves their number to the line about a data source that does not answer', async () => {
    const state = stateOf('NoData', {
      cause: 'Prometheus has not answered since 2020-01-01T00:00:00.988Z: connection refused (h:9090)',
    });
    const rows = ['a', 'b', 'c', 'd'].map((name) => rowOf({ name, metric: null, state }));
    const { page } = await stage.open({
      overview: () => overviewOf(rows),
      service: () => failingService(),
    });
    await page.getByText(/^Data source default .* 214 scalers keep their replicas$/).waitFor();

    const card = await page.locator('.start-here').innerText();

    const cause = 'Prometheus has not answered since Jan 1, 2020, 01:00:00: connection refused (h:9090)';
    expect(card).toContain(cause);
    expect(card).not.toContain('same cause');
    expect(card).not.toContain('First because');
    const row = page.locator('.cell-reason').nth(1);
    expect(await row.innerText()).toBe(cause);
    expect(await row.locator('time').getAttribute('title')).toBe(
      'Jan 1, 01:00:00 GMT+1, 2020-01-01 00:00:00 UTC',
    );
    expect(await row.getAttribute('title')).toContain('2020-01-01 00:00:00 UTC');
  });
});

describe('the overview without trouble', () => {
  it('has no card, and does not load its code', async () => {
    const { page } = await stage.open({ overview: () => overviewOf([rowOf()]) });
    const scripts: string[] = [];
    page.on('request', (request) => scripts.push(request.url()));
    await page.reload();
    await page.locator('.scaler-row').first().waitFor();

    expect(await page.locator('.start-here').count()).toBe(0);
    expect(scripts.filter((url) => url.includes('start-here'))).toEqual([]);
    expect(await page.title()).toBe('Scalers - promscaler');
  });
});
