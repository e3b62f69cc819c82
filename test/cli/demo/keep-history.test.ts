import { expect, it } from '@jest/globals';
import { offer } from '../../../src/cli/demo/keep-history.js';

it.each([
  [['search', 'checkout'], 'checkout.yaml --sweep averageUtilization=50,70,80'],
  [['search', 'mailer'], 'search.yaml --sweep maxReplicas=5,10,20'],
])('a demo that ends with the documents %j offers a back-test of the file %s', (names, last) => {
  const documents = new Map(names.map((name) => [name, `${name}.yaml`]));

  const lines = offer({ historyFile: 'history.json', documents }, 'promscaler').trimEnd().split('\n');

  expect(lines.at(-1)).toBe(`  promscaler backtest --history history.json --scaler ${last}`);
});

it('a demo that ends without documents offers none', () => {
  expect(offer({ historyFile: 'history.json', documents: new Map() }, 'promscaler')).toBe('');
});
