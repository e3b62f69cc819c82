import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { arch, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ProgramContext } from '../../src/cli/demo/programs/find-program.js';
import type { Environment } from '../../src/cli/demo/programs/child-process.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';

/** Directory of Prometheus below the directory of all caches. */
export const IN_CACHE = `promscaler/prometheus-debian-${arch()}`;
/** Nothing listens there. */
export const NO_MIRROR = 'http://127.0.0.1:1/releases';
const SYSTEM_PATH = '/bin:/usr/bin';

/** A machine without installed programs: only those in `bin` are on its PATH. */
export interface Machine {
  readonly root: string;
  /** `reports` collects the lines before downloads. */
  readonly context: (env?: Environment, reports?: string[]) => ProgramContext;
  /** Path of a program of Prometheus in the cache. */
  readonly cached: (name: string) => string;
  /** Adds a shell script. */
  readonly program: (path: string, script: string) => Promise<string>;
  /** Adds an apt-get that "downloads" and a dpkg that "unpacks" a prometheus, a promtool and a victoria-metrics. */
  readonly debian: (options?: DebianOptions) => Promise<void>;
  /** The command of each call of apt-get, and what else is written to `calls`. */
  readonly calls: () => Promise<readonly string[]>;
  readonly remove: () => Promise<void>;
}

interface DebianOptions {
  /** The script of the unpacked programs. */
  readonly program?: string;
}

export async function createMachine(): Promise<Machine> {
  const root = await mkdtemp(join(tmpdir(), 'promscaler-programs-'));
  const program = async (path: string, script: string): Promise<string> => {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    // The PATH of the machine does not have the tools of the shell.
    await writeFile(file, `#!/bin/sh\nPATH=${SYSTEM_PATH}\n${script}\n`, { mode: 0o755 });
    return file;
  };
  return {
    root,
    context: (env = {}, reports = []) => ({
      clock: SYSTEM_CLOCK,
      report: (line) => void reports.push(line),
      env: {
        PATH: join(root, 'bin'),
        XDG_CACHE_HOME: join(root, 'cache'),
        PROMSCALER_PROMETHEUS_MIRROR: NO_MIRROR,
        ...env,
      },
    }),
    cached: (name) => join(root, 'cache', IN_CACHE, 'usr/bin', name),
    program,
    debian: async (options = {}) => {
      await program(
        'bin/apt-get',
        `shift 3; echo "$@" >>"${root}/calls"\ncase "$*" in *download*) touch p.deb;; esac`,
      );
      const tool = `#!/bin/sh\n${options.program ?? 'exit 0'}\n`;
      await program(
        'bin/dpkg',
        `mkdir -p "$3/usr/bin"; for p in prometheus promtool victoria-metrics; do printf '${tool.replaceAll('\n', '\\n')}' >"$3/usr/bin/$p"; chmod 755 "$3/usr/bin/$p"; done`,
      );
    },
    calls: async () => (await readFile(join(root, 'calls'), 'utf8')).trim().split('\n'),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
