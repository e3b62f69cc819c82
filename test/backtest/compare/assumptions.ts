import type { Assumptions } from '../../../src/backtest/compare/variant.js';

export const ASSUMPTIONS: Assumptions = {
  capacity: 10,
  podStartSeconds: 30,
  scrapeIntervalSeconds: 15,
  resourceWindowSeconds: 60,
  usageAtCapacityPercent: 100,
  initialReplicas: null,
  pricePerPodHour: null,
};
