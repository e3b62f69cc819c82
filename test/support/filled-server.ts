import { findPrometheus } from '../../src/cli/demo/programs/prometheus-release.js';
import { startPrometheus } from '../../src/cli/demo/programs/prometheus-server.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { remoteWrite, type WrittenSeries } from './remote-write.js';
import { startVictoriaMetrics } from './victoria-metrics.js';

export type ServerName = 'Prometheus' | 'VictoriaMetrics';

/** A real server with the series that were written to it. */
export interface FilledServer {
  readonly url: string;
  /** Deletes its data. */
  readonly stop: () => Promise<void>;
}

/** Starts a server without config, and resolves when these series can be queried. */
export async function startFilled(name: ServerName, series: readonly WrittenSeries[]): Promise<FilledServer> {
  const { url, stop, flush } = name === 'Prometheus' ? await prometheus() : await victoriaMetrics();
  try {
    await remoteWrite(url, series);
    await flush();
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

interface EmptyServer extends FilledServer {
  /** Resolves when earlier writes can be queried. */
  readonly flush: () => Promise<void>;
}

async function prometheus(): Promise<EmptyServer> {
  const [env, clock] = [process.env, SYSTEM_CLOCK];
  const binary = await findPrometheus({ env, clock });
  const args = [
    '--web.enable-remote-write-receiver',
    '--web.enable-admin-api',
    '--enable-feature=native-histograms',
  ];
  const { url, stop } = await startPrometheus({ binary, config: '', env, clock, args });
  return { url, stop, flush: () => Promise.resolve() };
}

async function victoriaMetrics(): Promise<EmptyServer> {
  const { url, kill, flush } = await startVictoriaMetrics();
  return { url, stop: kill, flush };
}
