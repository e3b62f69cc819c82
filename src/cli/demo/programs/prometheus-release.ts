import { mkdir, rm, readdir, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { type DownloadLimits, downloadFile } from './download-file.js';
import {
  type Origin,
  type ProgramContext,
  reasonOf,
  type Program,
  findProgram,
  findOnPath,
} from './find-program.js';
import { unpackTar, unpackZip } from './unpack.js';
import { runCommand } from './child-process.js';

/** An archive of a release for one system. */
interface ReleaseArchive {
  /** The system in the name of the archive, such as `linux-amd64`. */
  readonly system: string;
  readonly sha256: string;
}

interface Release {
  readonly version: string;
  /** Maps `platform-arch` of Node.js to the archive. */
  readonly archives: Readonly<Record<string, ReleaseArchive>>;
}

const WINDOWS: ReleaseArchive = {
  system: 'windows-amd64',
  sha256: 'b3c2607d1e80a277735fd3cde86432eb1b6843897cb82fb04fbf4c7ffb1d1c36',
};

/** A long-term support release. The checksums are from its sha256sums.txt. */
export const PROMETHEUS_RELEASE: Release = {
  version: '3.5.0',
  archives: {
    'linux-x64': {
      system: 'linux-amd64',
      sha256: 'e811827af26d822afb09a4f28314f61b618b12cff5369835a67f674d8b46f39a',
    },
    'linux-arm64': {
      system: 'linux-arm64',
      sha256: '173389cc42bf09c4e6e54cb53fa07a5a835d7c261e14775d2183181d6e385d1c',
    },
    'darwin-x64': {
      system: 'darwin-amd64',
      sha256: '5856d0c306e7d852d9a79788b20acb630501b3fab120b69f5317d6b0732dea57',
    },
    'darwin-arm64': {
      system: 'darwin-arm64',
      sha256: 'c17bc2c992f0b5515eebe2b4ccd626214f8e309a0fe6ec40ed13c42ec13d05fb',
    },
    'win32-x64': WINDOWS,
    // Windows 11 emulates amd64.
    'win32-arm64': WINDOWS,
  },
};

/** URL of a mirror with the same paths: `v3.5.0/prometheus-3.5.0.linux-amd64.tar.gz`. */
const MIRROR = 'PROMSCALER_PROMETHEUS_MIRROR';
const OFFICIAL = 'https://github.com/prometheus/prometheus/releases/download';

const MIB = 1024 * 1024;
/** An archive has 105 to 120 MiB. */
const LIMITS: DownloadLimits = { bytes: 256 * MIB, totalMs: 1_800_000, idleMs: 30_000 };
/** Limits the size of an unpacked program, which is about 150 MiB. */
const MOST_PROGRAM_BYTES = 512 * MIB;

interface ReleaseOptions {
  readonly release?: Release;
  readonly limits?: DownloadLimits;
  /** `platform-arch` of Node.js. Default: this machine. */
  readonly machine?: string;
}

/** Returns an origin for `prometheus` and `promtool`: the official release, whose SHA-256 sum is verified. */
export function prometheusRelease(options: ReleaseOptions = {}): Origin {
  const { release = PROMETHEUS_RELEASE, limits = LIMITS, machine = `${platform()}-${arch()}` } = options;
  const archive = release.archives[machine];
  const name = `prometheus-${release.version}.${archive?.system ?? machine}`;
  const suffix = machine.startsWith('win32') ? '.exe' : '';
  return {
    title: `the official release ${release.version}`,
    directory: name,
    path: (binary) => `${binary}${suffix}`,
    isPossible: () => Promise.resolve(archive !== undefined),
    download: async (context, directory) => {
      const [extension, unpack] = suffix === '' ? ['tar.gz', unpackTar] : ['zip', unpackZip];
      const work = join(directory, 'download');
      await mkdir(work);
      const file = join(work, 'archive');
      const url = `${mirror(context)}/v${release.version}/${name}.${extension}`;
      try {
        await downloadFile(context, { url, file, sha256: archive?.sha256 ?? '', limits });
        const names = ['prometheus', 'promtool'].map((program) => `${name}/${program}${suffix}`);
        await unpack(file, { names, strip: `${name}/`, directory, mostBytes: MOST_PROGRAM_BYTES });
      } catch (error) {
        throw new Error(`${withoutPassword(url)}: ${reasonOf(error)}`, { cause: error });
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    },
  };
}

function mirror({ env }: ProgramContext): string {
  const { [MIRROR]: base = '' } = env;
  if (base === '') return OFFICIAL;
  if (!/^https?:\/\//i.test(base) || !URL.canParse(base)) {
    throw new Error(`${MIRROR} is not a URL that begins with http:// or https://`);
  }
  return base.endsWith('/') ? base.slice(0, -1) : base;
}

function withoutPassword(text: string): string {
  const url = new URL(text);
  [url.username, url.password] = ['', ''];
  return url.href;
}

export const PROMETHEUS: Program = {
  title: 'Prometheus',
  binary: 'prometheus',
  origins: [prometheusRelease(), debianPackage('prometheus')],
  probe: ['--version'],
  install: {
    'apt-get': 'sudo apt-get install prometheus',
    brew: 'brew install prometheus',
    dnf: 'sudo dnf install golang-github-prometheus',
    pacman: 'sudo pacman -S prometheus',
    apk: 'sudo apk add prometheus',
    scoop: 'scoop install prometheus',
  },
  page: 'https://prometheus.io/download/',
};

/** Returns the path of `prometheus`. Throws the same errors as `findProgram`. */
export function findPrometheus(context: ProgramContext): Promise<string> {
  return findProgram(context, PROMETHEUS);
}

const TIMEOUT_MS = 300_000;

/** Returns an origin that downloads a program as a package of Debian, Ubuntu or a derivative. */
export function debianPackage(name: string): Origin {
  return {
    title: 'the packages of this distribution',
    directory: `${name}-debian-${arch()}`,
    path: (binary) => `usr/bin/${binary}`,
    isPossible: hasDebianPackages,
    download: (context, directory) => unpackDebianPackages(context, ['download', name], directory),
  };
}

export async function hasDebianPackages({ env }: ProgramContext): Promise<boolean> {
  return (await findOnPath('apt-get', env)) !== null && (await findOnPath('dpkg', env)) !== null;
}

/**
 * Runs a command of apt-get that downloads packages, and unpacks them into `directory`. Needs no root and installs
 * nothing. apt uses the sources and keys of the system, but lists, cache and locks in a temporary directory.
 */
export async function unpackDebianPackages(
  context: ProgramContext,
  command: readonly string[],
  directory: string,
): Promise<void> {
  const work = join(directory, 'apt');
  const run = (file: string, args: readonly string[]): Promise<string> =>
    runCommand(context, { file, args, directory: work, timeoutMs: TIMEOUT_MS });
  for (const part of ['lists', 'archives']) await mkdir(join(work, part, 'partial'), { recursive: true });
  try {
    await writeFile(join(work, 'apt.conf'), configOf(work));
    const aptGet = ['-qq', '-c', join(work, 'apt.conf')];
    await run('apt-get', [...aptGet, 'update']);
    await run('apt-get', [...aptGet, ...command]);
    // All directories are searched: `apt-get download` writes to the working directory, `apt-get install
    // --download-only` to the directory of archives.
    for (const name of (await readdir(work, { recursive: true })).sort())
      if (name.endsWith('.deb')) await run('dpkg', ['-x', join(work, name), directory]);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Disables the hooks that run after an update (clear caches, build an index), because they change the system. */
function configOf(work: string): string {
  return `Dir::State::lists ${JSON.stringify(join(work, 'lists'))};
Dir::Cache ${JSON.stringify(work)};
Debug::NoLocking "true";
// As root, apt downloads as another user, who cannot write to this directory.
APT::Sandbox::User "root";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
`;
}
