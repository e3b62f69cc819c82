import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { LIMIT_NAMES } from '../../../src/dashboard/ui/limit-names.js';

it('the reference has the name of each of the 11 limits on the dashboard', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/conditions.md'), 'utf8');
  const section = /^## Limits$.*?(?=^## )/ms.exec(page)?.[0] ?? '';
  const rows = [...section.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, limit, name]) => [limit, name]);

  expect(rows).toHaveLength(11);
  expect(Object.fromEntries(rows)).toEqual(LIMIT_NAMES);
});
