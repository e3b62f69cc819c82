import { expect, it } from '@jest/globals';
import { isFulfilled } from '../../src/scaler/label-requirement.js';

it.each([
  { operator: 'In', web: true, db: false, none: false },
  { operator: 'NotIn', web: false, db: true, none: true },
  { operator: 'Exists', web: true, db: true, none: false },
  { operator: 'DoesNotExist', web: false, db: false, none: true },
] as const)('$operator web or api: $web for web, $db for db, $none without the label', (row) => {
  const requirement = { key: 'app', operator: row.operator, values: ['web', 'api'] };

  expect(isFulfilled(requirement, 'web')).toBe(row.web);
  expect(isFulfilled(requirement, 'db')).toBe(row.db);
  expect(isFulfilled(requirement, undefined)).toBe(row.none);
});
