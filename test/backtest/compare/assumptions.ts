import { type Assumptions, podStartOf } from '../../../src/backtest/simulation/settings.js';

export const ASSUMPTIONS: Assumptions = {
  capacity: 10,
  podStart: podStartOf(30),
  scrapeIntervalSeconds: 15,
  resourceWindowSeconds: 60,
  usageAtCapacityPercent: 100,
  maxReplicasFrom: null,
  initialReplicas: null,
  pricePerPodHour: null,
  queue: null,
  measures: new Map(),
};
