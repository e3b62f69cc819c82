import { describe, expect, it } from '@jest/globals';
import { failingService, fleetOf, hostileRows, overviewOf, rowOf, serviceOf } from './support/answers.js';
import { findBarriers, overflowOf } from './support/browser.js';
import { type FakeAnswers, FakeFailure } from './support/fake-service.js';
import { useStage } from './support/stage.js';

const stage = useStage();

const CASES: Readonly<Record<string, FakeAnswers>> = {
  'no scaler': { overview: () => overviewOf([]), service: () => serviceOf({ dataSources: [] }) },
  'one scaler': { overview: () => overviewOf([rowOf()]), service: () => serviceOf() },
  '5,000 scalers': {
    overview: () => overviewOf(fleetOf(5000), { problems: 2 }),
    service: () => serviceOf(),
  },
  'hostile texts': { overview: () => overviewOf(hostileRows()), service: () => failingService() },
  'an API that fails': {
    overview: () => new FakeFailure(503, 'the service is starting'),
    service: () => new FakeFailure(500, 'internal error'),
  },
};

describe.each(['#/', '#/health'])('the page %s', (hash) => {
  it.each(Object.keys(CASES))(
    'has no barrier with %s: light and dark, and as wide as its window of 1280, 390 and 320 px',
    async (name) => {
      const { page } = await stage.open(CASES[name] ?? {}, { hash });
      await page.locator('main :is(.card, .health-verdicts, .state-view, .scaler-row)').first().waitFor();
      expect([await findBarriers(page), await overflowOf(page)]).toEqual([[], 0]);

      await page.setViewportSize({ width: 390, height: 800 });
      await page.emulateMedia({ colorScheme: 'dark' });
      expect([await findBarriers(page), await overflowOf(page)]).toEqual([[], 0]);

      // 1280 px at a zoom of 400 %.
      await page.setViewportSize({ width: 320, height: 256 });
      expect(await overflowOf(page)).toBe(0);
    },
  );
});

describe('axe', () => {
  it('finds a barrier where there is one', async () => {
    const { page } = await stage.open({ overview: () => overviewOf([rowOf()]) });
    await page.evaluate("document.querySelector('main').append(document.createElement('button'))");

    expect((await findBarriers(page)).join()).toContain('button-name');
  });
});

describe('the theme', () => {
  it('follows the system until the viewer chooses one, which outlives a reload', async () => {
    const { page } = await stage.open({ overview: () => overviewOf([rowOf()]) }, { scheme: 'dark' });
    const background = (): Promise<unknown> =>
      page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    expect(await background()).toBe('rgb(17, 21, 27)');

    await page.getByRole('button', { name: 'Theme: system. Switch to light' }).click();
    expect(await background()).toBe('rgb(246, 247, 249)');
    await page.reload();
    await page.getByRole('button', { name: 'Theme: light. Switch to dark' }).waitFor();

    expect(await background()).toBe('rgb(246, 247, 249)');
  });
});
