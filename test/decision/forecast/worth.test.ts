import { describe, expect, it } from '@jest/globals';
import { worthRaising } from '../../../src/decision/forecast/worth.js';
import type { SpentPart } from '../../../src/decision/snapshot/snapshot.js';
import { at, scalerOf } from '../../support/builders.js';

const forecastOf = (fields: object = {}) => {
  const { forecast } = scalerOf({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 20,
    metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 60 } } }],
    forecast: fields,
  }).spec;
  if (forecast === null) throw new Error('the document has a forecast');
  return forecast;
};

/** Three days of 10 replicas, with 2 % more, and half an hour without 2 pods each day, of which two thirds are prevented. */
const DAYS: readonly SpentPart[] = Array.from({ length: 12 }, (_, part) => ({
  from: at(part * 21_600),
  reactive: 216_000,
  added: 4320,
  short: 900,
  prevented: 600,
}));

describe('worthRaising', () => {
  it('says what Raise would have prevented in three days, and what it would have cost', () => {
    expect(worthRaising(forecastOf(), { spent: DAYS })).toMatchObject({
      type: 'ForecastUseful',
      status: 'True',
      message:
        'spec.forecast.mode: Raise would have prevented 67 % of the missing pods of the last 3 days for 2 % more replicas (budgetPercent is 4)',
    });
  });

  it('does not change within the open part of six hours', () => {
    const spent = [
      ...DAYS.slice(0, -1),
      { from: at(11 * 21_600), reactive: 1, added: 9e9, short: 9e9, prevented: 0 },
    ];

    expect(worthRaising(forecastOf(), { spent })).toEqual(worthRaising(forecastOf(), { spent: DAYS }));
  });

  it.each<[string, object, readonly SpentPart[]]>([
    ['with mode Raise', { mode: 'Raise' }, DAYS],
    ['before three days', {}, DAYS.slice(0, -1)],
    ['if it prevents less than half', {}, DAYS.map((part) => ({ ...part, prevented: 449 }))],
    ['if it costs more than the budget', { budgetPercent: 1.9 }, DAYS],
    ['if hardly a pod was missing', {}, DAYS.map((part) => ({ ...part, short: 50, prevented: 50 }))],
    ['without replicas', {}, DAYS.map((part) => ({ ...part, reactive: 0 }))],
  ])('is silent %s', (_, fields, spent) => {
    expect(worthRaising(forecastOf(fields), { spent })).toBeNull();
  });
});
