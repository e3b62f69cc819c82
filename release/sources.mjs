import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';

/** Values that only the owner of the project knows, with their meaning. */
const OWNER_VALUES = {
  repository: 'the https URL of the Git repository',
  homepage: 'the https URL of the home page',
  maintainerName: 'the name of the maintainer',
  maintainerUrl: 'the https URL of the maintainer',
};

const CHART = 'charts/promscaler/Chart.yaml';

export function readJson(root, file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

/** An empty value counts as missing. */
function owner(root) {
  const values = Object.entries(readJson(root, 'release/owner.json'));
  return Object.fromEntries(values.map(([name, value]) => [name, value === '' ? null : value]));
}

/** The fields of package.json and Chart.yaml that follow from the version and the owner's values. */
function derived(root) {
  const { version } = readJson(root, 'package.json');
  const { repository, homepage, maintainerName, maintainerUrl } = owner(root);
  return {
    package:
      repository === null || homepage === null
        ? {}
        : {
            homepage,
            repository: { type: 'git', url: `git+${repository}.git` },
            bugs: { url: `${repository}/issues` },
          },
    chart: {
      version,
      appVersion: version,
      ...(homepage === null ? {} : { home: homepage }),
      ...(repository === null ? {} : { sources: [repository] }),
      ...(maintainerUrl === null ? {} : { maintainers: [{ name: maintainerName, url: maintainerUrl }] }),
    },
  };
}

/** Writes them. Comments of Chart.yaml are kept. */
export function writeDerived(root) {
  const { package: fields, chart } = derived(root);
  const manifest = readJson(root, 'package.json');
  writeFileSync(join(root, 'package.json'), `${JSON.stringify({ ...manifest, ...fields }, null, 2)}\n`);
  const document = parseDocument(readFileSync(join(root, CHART), 'utf8'));
  for (const [key, value] of Object.entries(chart)) {
    const present = document.get(key, true);
    if (typeof value === 'string' && present !== undefined) present.value = value;
    else document.set(key, document.createNode(value));
  }
  writeFileSync(
    join(root, CHART),
    document.toString({ lineWidth: 0, singleQuote: true, flowCollectionPadding: false }),
  );
}

/** Returns what prevents a release, as sentences. */
export function releaseProblems(root) {
  const problems = [];
  const values = owner(root);
  for (const [name, meaning] of Object.entries(OWNER_VALUES)) {
    const value = values[name];
    if (typeof value !== 'string') {
      problems.push(`release/owner.json: ${name} is missing: ${meaning}`);
    } else if (meaning.includes('URL') && (!URL.canParse(value) || !value.startsWith('https://'))) {
      problems.push(`release/owner.json: ${name} is ${value}, must be ${meaning}`);
    }
  }
  const manifest = readJson(root, 'package.json');
  const { version } = manifest;
  const chart = parseDocument(readFileSync(join(root, CHART), 'utf8')).toJS();
  const wanted = derived(root);
  const compare = (file, present, fields) => {
    for (const [key, value] of Object.entries(fields)) {
      if (JSON.stringify(present[key]) === JSON.stringify(value)) continue;
      problems.push(`${file}: ${key} is not ${JSON.stringify(value)}: run npm run release:write`);
    }
  };
  compare('package.json', manifest, wanted.package);
  compare(CHART, chart, wanted.chart);
  const lock = readJson(root, 'package-lock.json');
  if (lock.version !== version)
    problems.push(`package-lock.json: version is not ${version}: run npm install`);
  const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split('\n');
  if (!changes.some((line) => line === `## ${version}` || line.startsWith(`## ${version} `)))
    problems.push(`CHANGELOG.md: there is no section ${version}`);
  return problems;
}
