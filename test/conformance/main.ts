import { EXCEPTIONS } from './exceptions.js';
import { judge, summary } from './judge.js';

const SHOWN = 6;

const verdicts = await judge(new URL('../../../test/conformance/', import.meta.url));
for (const { name, request, differences } of verdicts) {
  if (differences.length === 0) continue;
  const more = differences.length > SHOWN ? `\n  and ${differences.length - SHOWN} more` : '';
  const reason = EXCEPTIONS[name] === undefined ? '' : `  known: ${EXCEPTIONS[name]}\n`;
  console.log(`${name} (${request})\n${reason}  ${differences.slice(0, SHOWN).join('\n  ')}${more}`);
}
console.log(summary(verdicts));
const isExpected = verdicts.every(
  ({ name, differences }) => (differences.length === 0) === (EXCEPTIONS[name] === undefined),
);
process.exitCode = isExpected ? 0 : 1;
