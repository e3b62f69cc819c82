import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly if?: string;
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const [CI_TEXT, NIGHTLY_TEXT] = ['ci', 'nightly'].map((name) =>
  readFileSync(join(ROOT, `.github/workflows/${name}.yml`), 'utf8'),
) as [string, string];
const TEXT = CI_TEXT + NIGHTLY_TEXT;
const WORKFLOW = parse(CI_TEXT) as Workflow;
const NIGHTLY = parse(NIGHTLY_TEXT) as Workflow;
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
};
const CI_JOBS = Object.entries(WORKFLOW.jobs);
const JOBS = [...CI_JOBS, ...Object.entries(NIGHTLY.jobs)];

function job(name: string): Job {
  const found = WORKFLOW.jobs[name];
  if (found === undefined) throw new Error(`there is no job ${name}`);
  return found;
}

/** Returns the inputs of the build step of a job. */
function buildOf(name: string): Readonly<Record<string, unknown>> {
  const build = job(name).steps.find(({ uses = '' }) => uses.startsWith('docker/build-push-action@'));
  return build?.with ?? {};
}

describe('the workflow', () => {
  it('tests on the oldest release of Node that package.json promises, and on each even one up to that of the image', () => {
    const promised = Number(/^>=(\d+)\./.exec(PACKAGE.engines.node)?.[1]);
    const image = Number(/node:(\d+)-/.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))?.[1]);
    const releases = Array.from({ length: (image - promised) / 2 + 1 }, (_, index) => promised + 2 * index);

    expect(job('test').strategy?.matrix['node']).toEqual(releases);
    expect(job('services').strategy?.matrix['node']).toEqual(releases);
  });

  it('runs the tests of services, which npm test leaves out without a path, in a job of their own', async () => {
    const { SERVICES } = (await import(join(ROOT, 'test/support/programs-of-tests.mjs'))) as {
      readonly SERVICES: readonly string[];
    };
    const listed = (...args: readonly string[]): readonly string[] =>
      spawnSync('npm', ['test', '--silent', '--', '--listTests', ...args], { cwd: ROOT, encoding: 'utf8' })
        .stdout.trim()
        .split('\n')
        .sort();
    const [all, fast] = [listed('test/'), listed()];
    const left = all.filter((file) => !fast.includes(file));

    expect(left).toEqual(listed(...SERVICES));
    expect(left.length).toBeGreaterThan(30);
    expect(PACKAGE.scripts['test:services']).toBe(`npm test -- ${SERVICES.join(' ')}`);
    expect(job('test').steps.at(-1)?.run).toBe('npm test');
    expect(job('services').steps.at(-1)?.run).toBe('npm run test:services');
    expect(readFileSync(join(ROOT, '.ci/run'), 'utf8').split('\n')).toContain('npm test -- test/');
  });

  it('runs only scripts that package.json and the tree have', () => {
    const lines = JOBS.flatMap(([, { steps }]) => steps.map(({ run = '' }) => run));
    const text = lines.join('\n');
    const scripts = [...text.matchAll(/\bnpm (?:run )?(?:--silent )?([\w:]+)/g)].map(([, name]) => name);
    const files = [...text.matchAll(/\b(test\/[\w./-]+)/g)].map(([, file = '']) => file);

    for (const name of scripts)
      if (name !== 'ci' && name !== 'audit' && name !== 'pack')
        expect(Object.keys(PACKAGE.scripts)).toContain(name);
    for (const file of files)
      expect({ file, isThere: existsSync(join(ROOT, file)) }).toEqual({ file, isThere: true });
  });

  it('builds the image for amd64 and arm64, with SBOM and provenance', () => {
    const wanted = { platforms: 'linux/amd64,linux/arm64', sbom: true, provenance: 'mode=max', context: '.' };

    expect(buildOf('image')).toMatchObject(wanted);
    expect(buildOf('publish')).toMatchObject(wanted);
    expect(String(buildOf('image')['outputs'])).toMatch(/^type=oci,/);
  });

  it('publishes only from tags, after every other job, the only one with write permission', () => {
    const pushing = CI_JOBS.filter(([name]) => {
      const { push, outputs } = buildOf(name);
      return push !== undefined || String(outputs).startsWith('type=registry');
    }).map(([name]) => name);
    const writing = JOBS.filter(([, { permissions }]) => permissions !== undefined).map(([name]) => name);

    expect(pushing).toEqual(['publish']);
    expect(writing).toEqual(['publish']);
    expect(WORKFLOW.permissions).toEqual({ contents: 'read' });
    expect(job('publish').if).toBe("startsWith(github.ref, 'refs/tags/v')");
    expect(job('publish').needs).toEqual(CI_JOBS.map(([name]) => name).filter((name) => name !== 'publish'));
    // With the permissions of the base repository, a pull request's code would run with its secrets.
    expect(Object.keys(WORKFLOW.on)).toEqual(['push', 'pull_request']);
  });

  it('publishes nothing before the release check, and everything with an attestation', () => {
    const { steps } = job('publish');
    const texts = steps.map(({ run = '', uses = '' }) => `${uses}${run}`);
    const first = (part: string): number => texts.findIndex((text) => text.includes(part));

    expect(first('release:check')).toBeGreaterThan(-1);
    for (const part of ['build-push-action', 'helm push', 'gh release create'])
      expect(first(part)).toBeGreaterThan(first('release:check'));
    expect(first('actions/attest-build-provenance@')).toBeGreaterThan(-1);
    expect(steps[first('helm package')]?.run).toContain('--sign');
  });

  it('runs the end-to-end tests and the chart on the same kind cluster, with the image that was just built', () => {
    const { steps } = job('e2e');
    const kind = steps.find(({ uses = '' }) => uses.startsWith('helm/kind-action@'))?.with?.['cluster_name'];
    const { run = '', env = {} } = steps.find((step) => step.run?.includes('test:e2e') === true) ?? {};

    expect(run).toContain(`kind get kubeconfig --name ${String(kind)}`);
    expect(env).toEqual({ PROMSCALER_E2E_KUBECONFIG: '${{ runner.temp }}/kubeconfig' });
    expect(buildOf('e2e')).toMatchObject({ load: true, tags: 'promscaler:e2e' });
    expect(steps.at(-1)?.run).toBe(`test/e2e/kind.sh ${String(kind)} promscaler:e2e`);
  });

  it('limits the time of every job, uses few actions pinned to a commit, and leaves no token in the checkout', () => {
    const actions = JOBS.flatMap(([, { steps }]) => steps.flatMap(({ uses }) => uses ?? []));
    const checkouts = JOBS.flatMap(([, { steps }]) =>
      steps.filter(({ uses = '' }) => uses.startsWith('actions/checkout@')),
    );

    for (const [name, { 'timeout-minutes': minutes }] of JOBS)
      expect({ name, isBounded: minutes !== undefined && minutes <= 40 }).toEqual({ name, isBounded: true });
    for (const action of actions) expect(action).toMatch(/^(actions|docker|helm)\/[\w-]+@[0-9a-f]{40}$/);
    // Dependabot reads the version from the comment.
    expect(TEXT.match(/uses: .*/g)).toHaveLength(actions.length);
    for (const line of TEXT.match(/uses: .*/g) ?? []) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(checkouts).toHaveLength(JOBS.length);
    for (const checkout of checkouts) expect(checkout.with).toMatchObject({ 'persist-credentials': false });
  });

  it('runs no scripts of packages, checks for known vulnerabilities, and has its pins updated', () => {
    const installs = TEXT.match(/npm ci.*/g) ?? [];

    expect(installs.length).toBeGreaterThanOrEqual(3);
    for (const line of installs)
      expect(line).toMatch(/^npm ci --ignore-scripts(?: --omit=dev --omit=optional\))?$/);
    expect(job('audit').steps.at(-1)?.run).toBe('npm audit --omit=dev --audit-level=high');
    const { updates } = parse(readFileSync(join(ROOT, '.github/dependabot.yml'), 'utf8')) as {
      readonly updates: readonly Readonly<Record<string, unknown>>[];
    };
    expect(updates.map((update) => update['package-ecosystem'])).toEqual(['github-actions', 'docker', 'npm']);
  });

  it('runs the random tests each night with a new seed, which it prints', () => {
    expect(Object.keys(NIGHTLY.on)).toEqual(['schedule', 'workflow_dispatch']);
    expect(NIGHTLY.permissions).toEqual({ contents: 'read' });
    expect(NIGHTLY.jobs['fuzz']?.steps.at(-1)?.run).toMatch(
      /echo "FUZZ_SEED=\$FUZZ_SEED npm run fuzz" && npm run fuzz$/,
    );
  });

  it('puts no untrusted input into a shell command', () => {
    const lines = JOBS.flatMap(([, { steps }]) => steps.map(({ run = '' }) => run));

    for (const line of lines) expect(line).not.toContain('${{');
  });
});
