import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { IMAGE_USER } from '../support/image-process.js';

const ROOT = join(import.meta.dirname, '../..');
const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const LINES = DOCKERFILE.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

/** Returns the arguments of each occurrence of an instruction. */
function instructions(name: string): readonly (readonly string[])[] {
  return LINES.filter((line) => line.startsWith(`${name} `)).map((line) => line.split(' ').slice(1));
}

function testedReleases(): readonly number[] {
  const workflow = parse(readFileSync(join(ROOT, '.github/workflows/ci.yml'), 'utf8')) as {
    jobs: { test: { strategy: { matrix: { node: readonly number[] } } } };
  };
  return workflow.jobs.test.strategy.matrix.node;
}

describe('the Dockerfile', () => {
  const copies = instructions('COPY');
  const fromCheckout = copies
    .filter(([first = '']) => !first.startsWith('--from='))
    .flatMap((words) => words.slice(0, -1));

  it('copies existing paths that .dockerignore includes, and .dockerignore includes no others', () => {
    const ignore = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    const allowed = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1));

    expect(ignore).toContain('*');
    expect([...new Set(fromCheckout)].sort()).toEqual([...allowed].sort());
    for (const path of fromCheckout)
      expect({ path, isThere: existsSync(join(ROOT, path)) }).toEqual({ path, isThere: true });
  });

  it('copies from stages that it has', () => {
    const stages = LINES.flatMap((line) => /^FROM .* AS (\S+)$/.exec(line)?.[1] ?? []);
    const sources = copies.flatMap(([first = '']) => /^--from=(.*)/.exec(first)?.[1] ?? []);

    expect(sources.filter((source) => !stages.includes(source))).toEqual([]);
  });

  it('runs as the user of the chart, not as root, and without scripts of packages', () => {
    const pod = readFileSync(join(ROOT, 'charts/promscaler/templates/_pod.tpl'), 'utf8');
    const [user, group] = IMAGE_USER;

    expect(user).toBeGreaterThan(0);
    expect(pod).toContain(`"runAsUser" ${user} "runAsGroup" ${group} `);
    for (const line of LINES.filter((line) => line.includes('npm ci')))
      expect(line).toContain('--ignore-scripts');
  });

  it('builds and runs on one release of Node, which is pinned, distroless, has an even number and is tested', () => {
    const [build, base] = instructions('ARG').map(([words = '']) => words);
    const release = /^BUILD=node:(\d+)-\w+-slim@sha256:[0-9a-f]{64}$/.exec(build ?? '')?.[1] ?? '';

    expect(base).toMatch(
      new RegExp(`^BASE=gcr\\.io/distroless/nodejs${release}-debian\\d+:nonroot@sha256:[0-9a-f]{64}$`),
    );
    expect(Number(release) % 2).toBe(0);
    expect(testedReleases()).toContain(Number(release));
  });

  it('runs nothing on a platform other than the builder’s: its own stage only copies', () => {
    const own = LINES.slice(LINES.lastIndexOf('FROM ${BASE}'));
    const froms = LINES.filter((line) => line.startsWith('FROM '));

    expect(own.filter((line) => line.startsWith('RUN '))).toEqual([]);
    expect(froms.slice(0, -1).every((line) => line.includes('--platform=$BUILDPLATFORM'))).toBe(true);
    // A package with code for one platform would be that of the builder.
    const lock = parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    };
    const bound = Object.entries(lock.packages).filter(
      ([path, entry]) =>
        path !== '' &&
        entry['dev'] !== true &&
        ['os', 'cpu', 'libc', 'hasInstallScript'].some((field) => entry[field] !== undefined),
    );
    expect(bound).toEqual([]);
  });
});
