/** Has the order of the report. `checks/NAME.ts` implements a check; docs/guides/troubleshooting.md describes it. */
export const CHECK_NAMES = [
  'config',
  'prometheus',
  'prometheus-clock',
  'resource-series',
  'scrape-interval',
  'sample-age',
  'notifications',
  'cluster',
  'cluster-clock',
  'permissions',
  'lease',
  'state',
  'custom-resources',
  'target',
  'pods',
  'requests',
  'other-scaler',
  'replicas-writer',
  'query',
  'query-window',
  'pod-start',
  'forecast',
  'spikes',
  'decision',
] as const;

export type CheckName = (typeof CHECK_NAMES)[number];
