import { describe, expect, it } from '@jest/globals';
import { verdictOf } from '../../src/backtest/page-data.js';
import type { Figures } from '../../src/backtest/compare/figures.js';
import { figuresWith } from './compare/figures-of.js';

const variant = (name: string, some: Partial<Figures> | null) => ({
  name,
  figures: some === null ? null : figuresWith(some),
});

const WEB = variant('web.yaml', { podHours: 100, thetaU: 0.3, tauU: 2 });

describe('the first sentence of a back-test', () => {
  it('says what one document costs and risks', () => {
    expect(verdictOf([WEB])).toBe(
      'web.yaml needs 100.0 pod-hours and has too few pods in 2.0 % of the time.',
    );
  });

  it('names the variant with the fewest pod-hours among those with about the same risk: 0.05 points of theta_U', () => {
    const variants = [
      WEB,
      variant('a', { podHours: 90, thetaU: 0.3, tauU: 2 }),
      variant('b', { podHours: 80, thetaU: 0.35, tauU: 2.5 }),
      variant('c', { podHours: 70, thetaU: 0.36, tauU: 3 }),
    ];

    expect(verdictOf(variants)).toBe(
      'b is better than web.yaml: it needs 20.0 % fewer pod-hours (80.0, not 100.0) at about the same risk, and has too few pods in 2.5 % of the time, web.yaml in 2.0 %.',
    );
  });

  it('has enough digits for the difference of the risks', () => {
    const [one, other] = [
      variant('web.yaml', { podHours: 100, thetaU: 0, tauU: 0 }),
      variant('a', { podHours: 90, thetaU: 0.01, tauU: 0.03 }),
    ];

    expect(verdictOf([one, other])).toMatch(/too few pods in 0\.03 % of the time, web\.yaml in 0\.00 %\.$/);
  });

  it('says what fewer pod-hours would risk if no variant is better', () => {
    const variants = [WEB, variant('c', { podHours: 70, thetaU: 4, tauU: 11 })];

    expect(verdictOf(variants)).toBe(
      'No variant is better than web.yaml: c needs 30.0 % fewer pod-hours (70.0, not 100.0), but has too few pods in 11.0 % of the time, web.yaml in 2.0 %.',
    );
  });

  it('says what less risk would cost if no variant needs fewer pod-hours', () => {
    const variants = [WEB, variant('d', { podHours: 110, thetaU: 0.1, tauU: 0.5 })];

    expect(verdictOf(variants)).toBe(
      'No variant is better than web.yaml: d has too few pods in 0.5 % of the time, web.yaml in 2.0 %, but needs 10.0 % more pod-hours (110.0, not 100.0).',
    );
  });

  it('says that the document is the best, also if another has failed', () => {
    const variants = [WEB, variant('e', { podHours: 120, thetaU: 0.4, tauU: 3 }), variant('f', null)];

    expect(verdictOf(variants)).toBe(
      'web.yaml is the best: it needs 100.0 pod-hours and has too few pods in 2.0 % of the time; each other variant needs more pod-hours or has a higher risk.',
    );
  });

  it('compares with the first document that has figures, and is missing without any', () => {
    expect(verdictOf([variant('f', null)])).toBeNull();
    expect(verdictOf([variant('f', null), WEB])).toMatch(/^web\.yaml needs 100\.0/);
  });

  it('does not divide by the pod-hours of a document that had no pods', () => {
    const none = variant('zero.yaml', { podHours: 0, thetaU: 100, tauU: 100 });

    expect(verdictOf([none, WEB])).toBe(
      'No variant is better than zero.yaml: web.yaml has too few pods in 2.0 % of the time, zero.yaml in 100.0 %, but needs more pod-hours (100.0, not 0.0).',
    );
  });
});
