import { describe, expect, it } from '@jest/globals';
import {
  EVERYTHING,
  countRows,
  linesOf,
  percentOf,
  readSelection,
  selectRows,
  writeSelection,
} from '../../../src/dashboard/overview/selection.js';
import type { Selection } from '../../../src/dashboard/overview/selection.js';
import { SEVERITIES as ORDERED } from '../../../src/decision/severity.js';
import { SEVERITIES } from '../../../src/dashboard/ui/severities.js';
import { after, rowOf, stateOf } from '../../browser/support/answers.js';

const ROWS = [
  rowOf({
    namespace: 'data',
    name: 'etl',
    kind: 'StatefulSet',
    current: 3,
    state: stateOf('Stabilizing'),
    changedAt: after(-5),
  }),
  rowOf({
    name: 'cart',
    target: 'cart-v2',
    current: null,
    metric: null,
    state: stateOf('NoData'),
    changedAt: null,
  }),
  rowOf({ name: 'web', current: 12, state: stateOf('DryRun'), changedAt: after(-99) }),
  rowOf({
    name: 'zoo',
    current: 1,
    group: 'payments',
    metric: { name: 'http_requests', unit: 'total', value: 90, target: 60 },
  }),
];

function namesOf(selection: Partial<Selection>): readonly string[] {
  return selectRows(ROWS, { ...EVERYTHING, ...selection }).map(({ name }) => name);
}

it('the list has the order of severities of the states', () => {
  expect(SEVERITIES).toEqual(ORDERED);
});

describe('selectRows', () => {
  it.each([
    ['', ['etl', 'cart', 'web', 'zoo']],
    ['WEB', ['web']],
    ['shop/', ['cart', 'web', 'zoo']],
    ['statefulset', ['etl']],
    ['cart-v2', ['cart']],
    ['http_req', ['zoo']],
    ['nodata', ['cart']],
    ['Payments', ['zoo']],
    ['  shop  z ', ['zoo']],
    ['shop etl', []],
  ])('finds by %j: %j', (search, names) => {
    expect(namesOf({ search, sort: 'name' })).toEqual(names);
  });

  it('filters by namespace and by any of the severities', () => {
    expect(namesOf({ namespace: 'data' })).toEqual(['etl']);
    expect(namesOf({ severities: ['held', 'waiting'], sort: 'name' })).toEqual(['etl', 'web']);
  });

  it('orders by severity', () => {
    expect(namesOf({})).toEqual(['cart', 'web', 'etl', 'zoo']);
  });

  it('orders scalers that cannot follow by overload in whole percent, an unknown one as 130 %, then by the age of their state', () => {
    const loadOf = (value: number) => ({ name: 'cpu', unit: 'percent' as const, value, target: 100 });
    const stuck = (name: string, value: number | null, since: number) =>
      rowOf({
        name,
        metric: value === null ? null : loadOf(value),
        state: stateOf('AtMaximum', { since: after(since) }),
      });
    const rows = [
      stuck('a', 99, -10),
      stuck('b', null, -20),
      stuck('c', 154, -10),
      stuck('d', 146, -20),
      stuck('e', 210, -1),
      stuck('f', 134, -30),
      stuck('g', 136, -1),
      stuck('h', 124, -30),
      stuck('i', 110.4, -10),
      stuck('j', 110, -20),
      stuck('k', 112, -1),
    ];

    expect(
      selectRows(rows, EVERYTHING)
        .map(({ name }) => name)
        .join(''),
    ).toBe('ecdgfbhkjia');
  });

  it('shows a missing target before a missing metric, though the metric has been missing for longer', () => {
    const [blind, gone] = (['NoData', 'NoTarget'] as const).map((state, index) =>
      rowOf({ name: state, metric: null, state: stateOf(state, { since: after(index - 20) }) }),
    );

    expect(
      selectRows(
        [blind, gone].flatMap((row) => row ?? []),
        EVERYTHING,
      ).map(({ name }) => name),
    ).toEqual(['NoTarget', 'NoData']);
  });

  it.each([
    ['replicas', false, ['zoo', 'etl', 'web', 'cart']],
    ['replicas', true, ['web', 'etl', 'zoo', 'cart']],
    ['changed', true, ['etl', 'zoo', 'web', 'cart']],
    ['metric', true, ['zoo', 'etl', 'web', 'cart']],
    ['name', true, ['zoo', 'web', 'cart', 'etl']],
  ] as const)('sorts by %s (descending: %s), the unknown last: %j', (sort, isDescending, names) => {
    const rows = ROWS.map((row) => (row.name === 'zoo' ? { ...row, changedAt: after(-50) } : row));
    const found = selectRows(rows, { ...EVERYTHING, sort, isDescending }).map(({ name }) => name);

    expect(found).toEqual(names);
  });
});

describe('linesOf', () => {
  const linesIn = (selection: Partial<Selection>): readonly string[] => {
    const all = { ...EVERYTHING, ...selection };
    return linesOf(selectRows(ROWS, all), all).map((line) =>
      'row' in line ? line.row.name : `${line.section.title} ${line.section.rows}`,
    );
  };

  it('has a section for each severity, if rows are sorted by state', () => {
    expect(linesIn({})).toEqual([
      'Cannot follow 1',
      'cart',
      'Held 1',
      'web',
      'Waiting 1',
      'etl',
      'OK 1',
      'zoo',
    ]);
    expect(linesIn({ sort: 'name' })).toEqual(['etl', 'cart', 'web', 'zoo']);
  });

  it('has a section for each namespace, in the order of their first rows, and no rows of a closed one', () => {
    expect(linesIn({ group: 'namespace', closed: ['data'] })).toEqual([
      'shop 3',
      'cart',
      'web',
      'zoo',
      'data 1',
    ]);
  });
});

describe('groups by label', () => {
  const rows = [
    rowOf({ name: 'a', group: 'checkout' }),
    rowOf({ name: 'b' }),
    rowOf({ name: 'c', group: 'checkout' }),
    rowOf({ name: 'd', group: 'search', state: stateOf('NoData') }),
  ];

  it('has a section for each value, and one for the rest', () => {
    const selection = { ...EVERYTHING, group: 'label' as const, closed: ['no label'] };

    expect(
      linesOf(selectRows(rows, selection), selection).map((line) =>
        'row' in line ? line.row.name : `${line.section.title} ${line.section.rows}`,
      ),
    ).toEqual(['search 1', 'd', 'checkout 2', 'a', 'c', 'no label 1']);
  });

  it('keeps the group and its collapsed sections in the address', () => {
    const written = writeSelection({ ...EVERYTHING, group: 'label', closed: ['no label'] });

    expect(written.toString()).toBe('group=label&closed=no+label');
    expect(readSelection(written)).toMatchObject({ group: 'label', closed: ['no label'] });
    expect(readSelection(new URLSearchParams('group=color')).group).toBeNull();
  });
});

describe('percentOf', () => {
  it('is unknown without a value and with a target of 0', () => {
    const metric = { name: 'cpu', unit: 'percent' as const, value: 30.2, target: 60 };

    expect([
      percentOf(metric),
      percentOf(null),
      percentOf({ ...metric, value: null }),
      percentOf({ ...metric, target: 0 }),
    ]).toEqual([50, null, null, null]);
  });
});

describe('readSelection and writeSelection', () => {
  it.each([
    ['', EVERYTHING],
    [
      'q=a+b&namespace=x%2Fy&severity=cannot-follow%2Cwaiting&sort=-replicas&group=namespace&closed=x%2Cy&columns=metric',
      {
        group: 'namespace',
        closed: ['x', 'y'],
        columns: ['metric'],
        search: 'a b',
        namespace: 'x/y',
        severities: ['cannot-follow', 'waiting'],
        sort: 'replicas',
        isDescending: true,
      },
    ],
  ] as const)('reads and writes %j', (text, selection) => {
    expect(readSelection(new URLSearchParams(text))).toEqual(selection);
    expect(writeSelection(selection).toString()).toBe(text);
  });

  it('ignores unknown severities and orders', () => {
    expect(readSelection(new URLSearchParams('severity=waiting,toString,waiting&sort=-__proto__'))).toEqual({
      ...EVERYTHING,
      severities: ['waiting'],
      isDescending: true,
    });
  });
});

describe('countRows', () => {
  it('counts a row by its severity and in its namespace', () => {
    const { severities, namespaces } = countRows(ROWS);

    expect(Object.fromEntries(severities)).toEqual({ waiting: 1, 'cannot-follow': 1, held: 1, ok: 1 });
    expect(namespaces).toEqual([
      ['data', 1],
      ['shop', 3],
    ]);
  });
});
