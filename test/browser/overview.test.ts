import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { HOSTILE, after, fleetOf, hostileRows, overviewOf, rowOf, stateOf } from './support/answers.js';
import { findBarriers } from './support/browser.js';
import { until } from '../support/until.js';
import { FakeFailure } from './support/fake-service.js';
import { useStage } from './support/stage.js';

const stage = useStage();

const FLEET = fleetOf(5000);

const THREE = [
  rowOf({ namespace: 'data', name: 'etl', state: stateOf('NoData', { cause: 'queue: no series' }) }),
  rowOf({
    name: 'cart',
    current: 6,
    state: stateOf('Stabilizing', { cause: 'the window is 300 s', until: after(180) }),
  }),
  rowOf({ name: 'web', current: 2, desired: 4, state: stateOf('OK', { cause: 'scaled from 2 to 4' }) }),
];

async function namesIn(page: Page): Promise<readonly string[]> {
  return page.locator('.scaler-row .cell-name a > bdi').allInnerTexts();
}

async function rowsOnPage(page: Page, names: readonly string[]): Promise<void> {
  await until(async () => (await namesIn(page)).join() === names.join(), `the rows ${names.join()}`);
}

describe('the overview of 3 scalers', () => {
  it('shows states, replicas, the metric and what limits it, the most urgent first', async () => {
    const { page } = await stage.open({ overview: () => overviewOf(THREE) });

    await rowsOnPage(page, ['etl', 'cart', 'web']);
    const text = async (name: string): Promise<string> =>
      (await page.locator('.scaler-row').filter({ hasText: name }).innerText()).replace(/\s+/g, ' ');
    expect(await text('etl')).toMatch(
      /^data\/ ?etl NoData .* queue: no series (?:\d\d:\d\d|\w+ \d+) \(1\d min\)$/,
    );
    expect(await text('cart')).toMatch(
      /Stabilizing .*6.*10 .*90 % of target.* the window is 300 s \d min left /,
    );
    expect(await text('web')).toMatch(/OK 2 to 4/);
    expect(await page.locator('.scaler-row').first().boundingBox()).toMatchObject({ height: 36 });
  });

  it('has a section for each severity, and keeps in the address which are collapsed', async () => {
    const { page, service } = await stage.open({ overview: () => overviewOf(THREE) });
    await rowsOnPage(page, ['etl', 'cart', 'web']);
    const sections = page.locator('.section-row');
    expect((await sections.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))).toEqual([
      'Cannot follow 1',
      'Waiting 1',
      'OK 1',
    ]);

    await sections.first().getByRole('button').click();

    await rowsOnPage(page, ['cart', 'web']);
    await page.waitForURL(`${service.url}#/?closed=cannot-follow`);
    await page.reload();
    await rowsOnPage(page, ['cart', 'web']);
  });

  it('groups by namespace and shows the chosen columns, as the link says', async () => {
    const { page, service } = await stage.open({ overview: () => overviewOf(THREE) });
    await page.getByLabel('Group by').selectOption('namespace');
    await page.getByText('Columns').click();
    await page.getByLabel('Last 2 hours').uncheck();

    await page.waitForURL(`${service.url}#/?group=namespace&columns=replicas%2Cmetric%2Creason%2Csince`);
    await page.reload();
    await rowsOnPage(page, ['etl', 'cart', 'web']);
    expect((await page.locator('.section-row').allInnerTexts()).join(' ').split(/\s+/)).toEqual([
      'data',
      '1',
      'shop',
      '2',
    ]);
    expect(await page.locator('.scaler-row .sparkline').count()).toBe(0);
  });

  it('groups by the label of the service config, as the link says', async () => {
    const [etl, cart, web] = THREE;
    const rows = [etl, { ...cart, group: 'checkout' }, { ...web, group: 'checkout' }] as typeof THREE;
    const { page, service } = await stage.open({ overview: () => overviewOf(rows, { groupLabel: 'team' }) });
    await page.getByLabel('Group by').selectOption('Grouped by team');

    await page.waitForURL(`${service.url}#/?group=label`);
    await page.reload();
    await page.locator('.section-row').first().waitFor();
    expect(
      (await page.locator('.section-row').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')),
    ).toEqual(expect.arrayContaining(['checkout 2', 'no label 1']));
  });

  it('has short rows for scalers without a cause on a phone, and no color for the load of a scaler that is OK', async () => {
    const metric = { name: 'cpu', unit: 'percent', value: 62, target: 60 } as const;
    const rows = [
      rowOf({ name: 'calm', metric }),
      rowOf({ name: 'held', metric, state: stateOf('Paused', { cause: 'by annotation' }) }),
    ];
    const { page } = await stage.open({ overview: () => overviewOf(rows) }, { width: 390, height: 844 });
    const row = (name: string) => page.locator('.scaler-row', { hasText: name });
    await row('calm').waitFor();

    expect((await row('calm').boundingBox())?.height).toBe(64);
    expect((await row('held').boundingBox())?.height).toBe(100);
    expect(await row('calm').locator('.is-above').count()).toBe(0);
    expect(await row('held').locator('.is-above').innerText()).toBe('103 %');
    expect(await page.locator('.search-field kbd').isVisible()).toBe(false);
  });

  it('highlights a changed row without hiding its texts', async () => {
    const { page, service } = await stage.open({ overview: () => overviewOf(THREE) });
    await page.getByText('Live', { exact: true }).waitFor();
    await until(() => service.streams.length === 1, 'the event stream');
    const changed = { ...THREE[1]!, current: 9, desired: 9 };
    service.answer({ overview: () => overviewOf([changed], { isComplete: false, revision: '2' }) });

    service.send('decision', { at: after(1), namespace: 'shop', name: 'cart' });

    await page.locator('.news').waitFor({ state: 'attached' });
    const style = 'getComputedStyle(document.querySelector(".news")).zIndex';
    expect(await page.evaluate(style)).toBe('-1');
  });

  it('finds while the viewer types, and writes the search into the address', async () => {
    const { page, service } = await stage.open({ overview: () => overviewOf(THREE) });
    await rowsOnPage(page, ['etl', 'cart', 'web']);
    await until(async () => {
      await page.keyboard.press('/');
      return (await page.locator('input[type=search]:focus').count()) === 1;
    }, 'the search to have the focus');
    await page.keyboard.type('shop CA');

    await rowsOnPage(page, ['cart']);
    await page.waitForURL(`${service.url}#/?q=shop+CA`);
    expect(await page.locator('.found').innerText()).toBe('1 of 3');

    await page.keyboard.press('Escape');
    await rowsOnPage(page, ['etl', 'cart', 'web']);
    await page.waitForURL(`${service.url}#/`);
  });

  it('opens as the link says, and follows Back', async () => {
    const { page, service } = await stage.open(
      { overview: () => overviewOf(THREE) },
      { hash: '#/?namespace=shop&severity=waiting,ok&sort=-replicas' },
    );
    await rowsOnPage(page, ['cart', 'web']);
    expect(await page.getByRole('button', { name: 'Waiting' }).getAttribute('aria-pressed')).toBe('true');
    expect(await page.getByLabel('Namespace').inputValue()).toBe('=shop');

    await page.getByRole('link', { name: 'cart' }).click();
    await page.waitForURL(`${service.url}#/scalers/shop/cart`);
    await page.goBack();

    await rowsOnPage(page, ['cart', 'web']);
  });

  it('sorts by a column, in both directions, and says so', async () => {
    const { page } = await stage.open({ overview: () => overviewOf(THREE) });

    await page.getByRole('button', { name: 'Replicas' }).click();
    await rowsOnPage(page, ['cart', 'etl', 'web']);
    await page.getByRole('button', { name: 'Replicas' }).click();
    await rowsOnPage(page, ['web', 'etl', 'cart']);

    const head = page.getByRole('columnheader', { name: 'Replicas' });
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    const order = page.getByLabel('Order');
    expect(await order.locator('option:checked').innerText()).toBe('Most replicas last');
    const group = page.getByLabel('Group by').locator('option:checked');
    expect(await group.innerText()).toBe('Not grouped');
    await order.selectOption('Most urgent first');
    expect(await group.innerText()).toBe('Grouped by state');
    expect(await page.locator('.scaler-head svg').count()).toBe(0);
    await rowsOnPage(page, ['etl', 'cart', 'web']);
  });

  it('names its time zone and, on hover, that of each time', async () => {
    const { page } = await stage.open({ overview: () => overviewOf(THREE) });
    const zone = page.getByTitle('Times are in Europe/Berlin');

    expect(await zone.innerText()).toMatch(/^Times in GMT\+[12]$/);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await zone.innerText()).toMatch(/^GMT\+[12]$/);
    await page
      .getByTitle(/^\w+ \d+, \d\d:\d\d:\d\d GMT\+[12], \S+ \S+ UTC$/)
      .first()
      .waitFor();
  });

  it('shows all again if nothing matches', async () => {
    const { page } = await stage.open({ overview: () => overviewOf(THREE) }, { hash: '#/?q=nothing' });

    await page.getByRole('button', { name: 'Show all scalers' }).click();

    await rowsOnPage(page, ['etl', 'cart', 'web']);
  });
});

describe('the overview of 5,000 scalers', () => {
  it('has only the rows around the window in the document, and says how many there are', async () => {
    const { page } = await stage.open({ overview: () => overviewOf(FLEET) }, { hash: '#/?sort=name' });
    await page.locator('.scaler-row').first().waitFor();

    expect(await page.locator('.scaler-row').count()).toBeLessThan(40);
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('5001');
    expect(await page.locator('.scaler-row').first().getAttribute('aria-rowindex')).toBe('2');

    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await page.getByText(FLEET.at(-1)?.name ?? '').waitFor();
    expect(await page.locator('.scaler-row').last().getAttribute('aria-rowindex')).toBe('5001');
  });

  it('moves the focus by keys, to rows that were not in the document, and keeps it while scrolling', async () => {
    const { page } = await stage.open({ overview: () => overviewOf(FLEET) }, { hash: '#/?sort=name' });
    const focused = (): Promise<string> => page.locator(':focus > bdi').innerText();
    await page.getByLabel('Search scalers').press('ArrowDown');
    expect(await focused()).toBe(FLEET[0]?.name);

    for (const key of ['j', 'ArrowDown', 'PageDown', 'ArrowUp', 'k']) await page.keyboard.press(key);
    expect(await focused()).toBe(FLEET[10]?.name);
    await page.keyboard.press('End');
    expect(await focused()).toBe(FLEET[4999]?.name);
    await page.evaluate('scrollTo(0, 0)');
    await page.getByText(FLEET[0]?.name ?? '').waitFor();
    expect(await focused()).toBe(FLEET[4999]?.name);

    await page.setViewportSize({ width: 1280, height: 500 });
    await until(async () => (await focused()) === FLEET[4999]?.name, 'the focus in a lower window');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/scalers\//);
  });

  it('shows other rows in the same elements while scrolling', async () => {
    const { page } = await stage.open({ overview: () => overviewOf(FLEET) }, { hash: '#/?sort=name' });
    await page.locator('.scaler-row').first().waitFor();
    await page.evaluate("document.querySelectorAll('.scaler-row').forEach((row) => { row.isOld = true; })");
    for (const row of [5, 100, 2500, 4900]) {
      await page.evaluate(`scrollTo(0, ${row * 36})`);
      await page.getByText(FLEET[row]?.name ?? '', { exact: true }).waitFor();
    }

    const isOld = "[...document.querySelectorAll('.scaler-row')].every((row) => row.isOld)";
    expect(await page.evaluate(isOld)).toBe(true);
    const text = await page.locator('.scaler-row').first().innerText();
    const index = Number(await page.locator('.scaler-row').first().getAttribute('aria-rowindex'));
    expect(text).toContain(FLEET[index - 2]?.name);
  });

  it('returns to the same rows', async () => {
    const { page } = await stage.open({ overview: () => overviewOf(FLEET) }, { hash: '#/?sort=name' });
    const row = page.getByText(FLEET[1000]?.name ?? '', { exact: true });
    // What is loaded after the rows may still move them.
    for (let tries = 0; tries < 300 && !(await row.isVisible()); tries += 1)
      await page.evaluate('scrollTo(0, 36000), new Promise(requestAnimationFrame)');

    // A click would scroll to the link.
    await page.evaluate("location.hash = '#/health'");
    await page.getByRole('heading', { name: 'Health' }).waitFor();
    await page.goBack();

    await row.waitFor();
    // The browser keeps the rows in place when something above them is loaded.
    expect(Math.abs(Number(await page.evaluate('scrollY')) - 36_000)).toBeLessThan(500);
  });

  it('starts with a link to skip to the content', async () => {
    const { page } = await stage.open({ overview: () => overviewOf(FLEET) });
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).toBe('Skip to content');

    await page.keyboard.press('Enter');

    expect(await page.locator(':focus').innerText()).toBe('Scalers');
  });
});

describe('hostile texts', () => {
  it('are shown and do nothing', async () => {
    const { page } = await stage.open({ overview: () => overviewOf(hostileRows()) });

    await rowsOnPage(page, Object.values(HOSTILE));
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.locator('.cell-name a:not([href^="#/scalers/"])').count()).toBe(0);
  });
});

describe('changes', () => {
  const changed = { ...THREE[1]!, current: 9, desired: 9 };

  it('appear without a reload, by an event, with only the changed rows', async () => {
    const { page, service } = await stage.open({ overview: () => overviewOf(THREE) });
    await page.getByText('Live', { exact: true }).waitFor();
    await rowsOnPage(page, ['etl', 'cart', 'web']);
    await until(() => service.streams.length === 1, 'the event stream');
    service.answer({ overview: () => overviewOf([changed], { isComplete: false, revision: '2' }) });

    service.send('decision', { at: after(1), namespace: 'shop', name: 'cart' });

    await page.locator('.scaler-row', { hasText: 'cart' }).getByText('9', { exact: true }).first().waitFor();
    expect(service.requests).toContain('overview?since=1');
    await page.getByText('cart: replicas 9').waitFor();
    await rowsOnPage(page, ['etl', 'cart', 'web']);
  });

  it('of 3,000 of 5,000 scalers at once are read together, not one by one', async () => {
    const rows = fleetOf(5000);
    const { page, service } = await stage.open(
      { overview: () => overviewOf(rows) },
      { hash: '#/?sort=name' },
    );
    await page.getByText('Live', { exact: true }).waitFor();
    await until(() => service.streams.length === 1, 'the event stream');
    const news = rows.slice(0, 3000).map((row) => ({ ...row, current: 777, desired: 777 }));
    service.answer({ overview: () => overviewOf(news, { isComplete: false, revision: '2' }) });

    for (const { namespace, name } of news) service.send('decision', { at: after(1), namespace, name });

    await until(async () => {
      const counts = await page.locator('.scaler-row .replicas').allInnerTexts();
      return counts.length > 5 && counts.every((text) => text.includes('777'));
    }, 'the changes of all visible rows');
    expect(service.requests.filter((path) => path.startsWith('overview')).length).toBeLessThan(30);
  });

  it('appear after a break, which is visible, and the stream resumes after the last event', async () => {
    const { page, service } = await stage.open({ overview: () => overviewOf(THREE) });
    await page.getByText('Live', { exact: true }).waitFor();
    service.send('decision', { at: after(1), namespace: 'shop', name: 'cart' });
    await until(
      () => service.requests.filter((path) => path.startsWith('overview')).length >= 2,
      'the request after the event',
    );

    service.cut(false);
    await page.getByText('Updated every 10 s').waitFor();
    service.answer({ overview: () => overviewOf([changed], { isComplete: false, revision: '2' }) });
    service.cut(true);

    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('.scaler-row', { hasText: 'cart' }).getByText('9', { exact: true }).first().waitFor();
    expect(service.streams.at(-1)).toEqual({ lastEventId: '1' });
  });

  it('of which one cannot be read: the rows stay, and the page says as of when they are', async () => {
    const { page, service } = await stage.open({ overview: () => overviewOf(THREE) });
    await page.getByText('Live', { exact: true }).waitFor();
    service.answer({ overview: () => new FakeFailure(503, 'the service is stopping') });

    service.send('reload', { at: after(1), scalers: 3, errors: 0 });

    await page.getByText(/^This page has not been updated since .* s\): the service is stopping$/).waitFor();
    await page.getByText('Not live').waitFor();
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
    await rowsOnPage(page, ['etl', 'cart', 'web']);
  });
});

describe('a bearer token', () => {
  it('is asked for, is sent with every request, and is kept for the tab', async () => {
    const { page } = await stage.open({ overview: () => overviewOf(THREE) }, { token: 'secret' });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByText('Enter your token to see the scalers.').waitFor();
    expect(await page.locator('.connection').count()).toBe(0);
    await page.getByRole('button', { name: 'Sign in' }).hover();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('the request needs a bearer token').waitFor();

    await page.getByLabel('Token').fill('secret');
    await page.keyboard.press('Enter');

    await rowsOnPage(page, ['etl', 'cart', 'web']);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.reload();
    await rowsOnPage(page, ['etl', 'cart', 'web']);
    expect(await page.evaluate('[Object.keys(localStorage), document.cookie]')).toEqual([[], '']);
  });
});
