import type { Limit } from './limit.js';

/** Not below `minReplicas`. */
export const limitToMinReplicas: Limit = (replicas, { spec }) =>
  replicas >= spec.minReplicas
    ? null
    : { to: spec.minReplicas, reason: `minReplicas is ${spec.minReplicas}`, until: null };

/** Not above `maxReplicas`. */
export const limitToMaxReplicas: Limit = (replicas, { spec }) =>
  replicas <= spec.maxReplicas
    ? null
    : { to: spec.maxReplicas, reason: `maxReplicas is ${spec.maxReplicas}`, until: null };
