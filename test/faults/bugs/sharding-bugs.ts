import { bug, edit, type Bug } from './bug.js';

/** Bugs of replicas that divide the scalers. */
export const SHARDING_BUGS: readonly Bug[] = [
  bug(
    'expired-member-keeps-writing',
    { by: ['I11', 'I31', 'I32', 'I33'], when: ['lease hang', 'lease refused'], shards: 3 },
    edit(
      'control/sharding/own-lease.js',
      'since !== null && isWithin(clock, since, times.renewDeadlineSeconds * 1000)',
      'since !== null',
    ),
  ),
  bug(
    'member-expires-too-early',
    { by: ['I32', 'I33'], when: ['lease hang', 'lease refused', 'lease slow'], shards: 3 },
    edit(
      'control/sharding/members.js',
      'nowMs - atMs < durationMs(lease.spec, times)',
      'nowMs - atMs < durationMs(lease.spec, times) / 5',
    ),
  ),
  bug(
    'every-bucket-decided',
    { by: ['I31', 'I33'], when: [], shards: 3 },
    edit(
      'control/sharding/membership.js',
      `serves: (bucket) => buckets.phaseOf(bucket) === 'serving'`,
      'serves: () => true',
    ),
    edit('control/sharding/membership.js', 'whyNoWrites() ?? buckets.whyNoWrites(bucket)', 'whyNoWrites()'),
  ),
  bug(
    'elected-leader-ignored',
    { by: ['I32', 'I33'], when: ['stopped'], shards: 3 },
    edit(
      'control/sharding/members.js',
      `isLive: () => !mayAcquire(known, { identity: '', nowMs: clock.monotonicMs(), times })`,
      'isLive: () => false',
    ),
  ),
  bug(
    'bucket-taken-from-a-live-member',
    { by: ['I32', 'I33'], when: ['stopped', 'restart'], shards: 3 },
    edit(
      'control/sharding/membership.js',
      'owner === identity && !isContested(bucket)',
      'owner === identity',
    ),
    edit('control/sharding/membership.js', 'buckets.confirm(contests())', 'buckets.confirm(() => false)'),
  ),
  bug(
    'claim-not-confirmed',
    { by: ['I32', 'I33'], when: ['lease slow', 'lease hang', 'stopped'], shards: 3 },
    edit('control/sharding/membership.js', 'buckets.confirm(contests())', 'buckets.confirm(() => false)'),
  ),
  bug(
    'intents-ignored-at-takeover',
    { by: ['I4', 'I5', 'I23'], when: ['crash', 'applied-lost', 'applied-504'], shards: 3 },
    edit(
      'control/memory/stored-memory.js',
      'assumedAt: reading.since, unresolved: intent, capacities };',
      'assumedAt: reading.since, unresolved: null, capacities };',
    ),
  ),
];
