import { describe, expect, it } from '@jest/globals';
import { until } from '../support/until.js';
import { fleetOf, overviewOf, rowOf, serviceOf, stateOf } from './support/answers.js';
import { findBarriers } from './support/browser.js';
import { useStage } from './support/stage.js';

const stage = useStage();

const ANSWERS = { overview: () => overviewOf([rowOf()]), service: () => serviceOf() };

describe('keys on every page', () => {
  it('list themselves with ?, without a barrier, and go away with Escape', async () => {
    const { page } = await stage.open(ANSWERS);
    const list = page.getByRole('dialog', { name: 'Keys' });
    await until(async () => {
      await page.keyboard.press('?');
      return list.isVisible();
    }, 'the list of keys');

    expect(await findBarriers(page)).toEqual([]);
    expect((await list.innerText()).replace(/\s+/g, ' ')).toContain('g h Go to Health');
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'hidden' });
  });

  it('go to the health with g h and back with g s, but not while somebody types', async () => {
    const { page, service } = await stage.open(ANSWERS);
    await page.locator('.keys').waitFor({ state: 'attached' });

    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { name: 'Health' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.locator('.scaler-row').waitFor();
    await page.getByLabel('Search scalers').fill('');
    await page.keyboard.type('gh?');

    await page.waitForURL(`${service.url}#/?q=gh%3F`);
    expect(await page.getByRole('dialog').isVisible()).toBe(false);
  });

  it('go to the first row with j, without a click before', async () => {
    const { page } = await stage.open(ANSWERS);
    await page.locator('.keys').waitFor({ state: 'attached' });
    await page.locator('.scaler-row').waitFor();
    await page.keyboard.press('j');

    expect(await page.locator(':focus').innerText()).toMatch(/web$/);
  });
});

describe('the list on a phone', () => {
  it('has headings of 36 px, rows with a cause of 100 px and others of 64 px, each directly after the one above', async () => {
    const rows = [
      rowOf({ name: 'a', state: stateOf('Paused', { cause: 'by annotation' }) }),
      rowOf({ name: 'b', state: stateOf('OK') }),
      rowOf({ name: 'c', state: stateOf('OK') }),
    ];
    const { page } = await stage.open({ overview: () => overviewOf(rows) }, { width: 390 });
    await page.locator('.scaler-row').first().waitFor();

    const tops = `[...document.querySelectorAll('.scalers-body > [role=row]')].map((row) =>
      [row.offsetTop, row.offsetHeight])`;
    expect(await page.evaluate(tops)).toEqual([
      [0, 36],
      [36, 100],
      [136, 36],
      [172, 64],
      [236, 64],
    ]);
    expect(await page.evaluate("document.querySelector('.scalers-body').offsetHeight")).toBe(300);
  });

  it('shows the last of 5,000 scalers at the end', async () => {
    const fleet = fleetOf(5000);
    const { page } = await stage.open(
      { overview: () => overviewOf(fleet) },
      { width: 390, hash: '#/?group=namespace&sort=name' },
    );
    await page.locator('.scaler-row').first().waitFor();

    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');

    await page.getByText(fleet.at(-1)?.name ?? '', { exact: true }).waitFor();
  });
});
