import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PartsContext } from './context.js';
import { findOnPath } from './find-on-path.js';
import { runCommand } from './run-command.js';

const LISTS_TIMEOUT_MS = 120_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const UNPACK_TIMEOUT_MS = 60_000;

/** Whether packages can be brought here: Debian, Ubuntu and their kin. */
export async function hasDebianPackages(context: PartsContext): Promise<boolean> {
  const tools = await Promise.all(['apt-get', 'dpkg'].map((name) => findOnPath(name, context.env)));
  return tools.every((path) => path !== null);
}

/**
 * Unpacks packages into `folder` (`usr/bin/...`), without what they depend on. Needs no root and installs nothing:
 * where the system's package lists are absent or too old, own ones are fetched for the moment. Throws what failed.
 */
export async function bringDebianPackages(
  context: PartsContext,
  packages: readonly string[],
  folder: string,
): Promise<void> {
  const work = join(folder, 'apt');
  await mkdir(work, { recursive: true });
  try {
    await download(context, packages, work);
    for (const name of await readdir(work)) {
      if (!name.endsWith('.deb')) continue;
      await runCommand(context, {
        file: 'dpkg',
        args: ['-x', join(work, name), folder],
        folder: work,
        timeoutMs: UNPACK_TIMEOUT_MS,
      });
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function download(context: PartsContext, packages: readonly string[], work: string): Promise<void> {
  const aptGet = (options: readonly string[], timeoutMs: number): Promise<string> =>
    runCommand(context, { file: 'apt-get', args: ['-qq', ...options], folder: work, timeoutMs });
  try {
    await aptGet(['download', ...packages], DOWNLOAD_TIMEOUT_MS);
  } catch {
    const own = await ownState(work);
    await aptGet(['update', ...own], LISTS_TIMEOUT_MS);
    await aptGet(['download', ...own, ...packages], DOWNLOAD_TIMEOUT_MS);
  }
}

/**
 * Options that have apt keep lists, cache and locks below `work`; sources and keys remain the system's. What the system
 * runs after an update (clearing its caches, building an index) is left out: it would touch what is not ours.
 */
async function ownState(work: string): Promise<readonly string[]> {
  const state = join(work, 'state');
  const cache = join(work, 'cache');
  await mkdir(join(state, 'lists', 'partial'), { recursive: true });
  await mkdir(join(cache, 'archives', 'partial'), { recursive: true });
  const config = join(work, 'apt.conf');
  const lines = [
    `Dir::State ${JSON.stringify(state)};`,
    'Dir::State::status "/var/lib/dpkg/status";',
    `Dir::Cache ${JSON.stringify(cache)};`,
    // As root apt would fetch as a user of its own, who cannot write here.
    'APT::Sandbox::User "root";',
    '#clear APT::Update::Post-Invoke;',
    '#clear APT::Update::Post-Invoke-Success;',
  ];
  await writeFile(config, lines.map((line) => `${line}\n`).join(''));
  return ['-c', config];
}
