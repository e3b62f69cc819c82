import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { findPrometheus } from '../../../src/cli/demo/programs/prometheus-release.js';
import { startPrometheus } from '../../../src/cli/demo/programs/prometheus-server.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { findVictoriaMetrics } from '../../programs/find-programs.js';
import { startVictoriaMetrics } from '../../support/victoria-metrics.js';
import { readPage } from '../exposition.js';
import { type EngineName, SCRAPE_SECONDS } from './plan.js';

/** A Prometheus or VictoriaMetrics that can fail. It keeps its data and its address until it is stopped. */
export interface LagEngine {
  readonly url: string;
  readonly version: string;
  /** SIGSTOP. */
  readonly suspend: () => void;
  /** SIGCONT. */
  readonly resume: () => void;
  /** SIGKILL. */
  readonly kill: () => Promise<void>;
  /** Starts it again after `kill`, with its data. */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface Running {
  readonly url: string;
  readonly port: number;
  readonly ended: Promise<string>;
  readonly signal: (name: NodeJS.Signals) => void;
}

/** The list below `scrape_configs`, as JSON. */
type ScrapeConfigs = readonly Readonly<Record<string, unknown>>[];

export async function startLagEngine(
  name: EngineName,
  scrapeConfigs: ScrapeConfigs,
  remoteWriteUrl: string | null = null,
): Promise<LagEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-lag-'));
  const config = configOf(scrapeConfigs, remoteWriteUrl);
  const start = async (port: number): Promise<Running> =>
    name === 'prometheus' ? startRealPrometheus(folder, config, port) : startVictoria(folder, config, port);
  let running = await start(0);
  const { url, port } = running;
  const kill = async (): Promise<void> => {
    running.signal('SIGKILL');
    await running.ended;
  };
  return {
    url,
    version: await versionOf(name, url),
    suspend: () => running.signal('SIGSTOP'),
    resume: () => running.signal('SIGCONT'),
    kill,
    restart: async () => {
      running = await start(port);
    },
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configOf(scrapeConfigs: ScrapeConfigs, remoteWriteUrl: string | null): string {
  return JSON.stringify({
    global: { scrape_interval: `${SCRAPE_SECONDS}s`, scrape_timeout: `${SCRAPE_SECONDS}s` },
    scrape_configs: scrapeConfigs,
    ...(remoteWriteUrl === null
      ? {}
      : {
          remote_write: [
            { url: `${remoteWriteUrl}/api/v1/write`, queue_config: { batch_send_deadline: '1s' } },
          ],
        }),
  });
}

async function startRealPrometheus(folder: string, config: string, port: number): Promise<Running> {
  const [env, clock] = [process.env, SYSTEM_CLOCK];
  const binary = await findPrometheus({ env, clock });
  const args = ['--web.enable-remote-write-receiver'];
  return startPrometheus({ binary, config, env, clock, directory: folder, port, args });
}

async function startVictoria(folder: string, config: string, port: number): Promise<Running> {
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, config);
  return startVictoriaMetrics({ port, folder, args: [`-promscrape.config=${file}`] });
}

/** Returns the version that the server reports, or that of its Debian package, whose builds report none. */
async function versionOf(name: EngineName, url: string): Promise<string> {
  const page = await readPage(`${url}/metrics`);
  const info = /^(?:prometheus_build_info|vm_app_version)\{(?:.*?[{,])?(?:short_)?version="([^"]+)"/m.exec(
    page,
  );
  if (info?.[1] !== undefined) return info[1];
  const file = await findVictoriaMetrics({ env: process.env, clock: SYSTEM_CLOCK });
  const changelog = join(dirname(file), '../share/doc/victoria-metrics/changelog.Debian.gz');
  const text = name === 'victoriametrics' ? await readFile(changelog).then(gunzipSync, () => '') : '';
  return /\(([^)]+)\)/.exec(text.toString())?.[1] ?? 'unknown';
}
