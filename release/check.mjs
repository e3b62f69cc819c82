// Names everything that prevents a release. With a tag as the argument (v1.2.3), it must be that of the version.
import { join } from 'node:path';
import { readJson, releaseProblems } from './sources.mjs';

const ROOT = join(import.meta.dirname, '..');
const [tag] = process.argv.slice(2);
const { version } = readJson(ROOT, 'package.json');
const problems = [...releaseProblems(ROOT)];
if (tag !== undefined && tag !== `v${version}`)
  problems.push(`the tag is ${tag}, the version of package.json ${version}`);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`version ${version} can be published`);
