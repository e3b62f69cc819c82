import type { DocumentSet } from '../../../src/config/document-set.js';
import type { CycleOutput } from '../../../src/control/cycle/types.js';
import { createBackTest, createHistoryClient } from './back-tests.js';
import { aClient } from '../../support/builders.js';
import { createSourceClient } from './prometheus.js';
import type { RequestGroup } from './faults.js';
import { isInGroup } from './api-wire.js';
import type { DecisionRecord } from './log.js';
import { SimulatedProcess } from './process.js';
import { OWN_NAMESPACE, serviceConfig } from './scenario.js';
import { openTransport, type Step } from './transport.js';
import type { Simulation } from './simulation.js';

/** Kills a process at this step of its next request of this group. */
export interface CrashPoint {
  readonly step: Step;
  readonly group: RequestGroup;
}

/** Until a killed process is restarted. */
const RESTART_MS = 3000;
/** Every 197th cycle, a snapshot is decided again. */
const REPLAY_EVERY = 197;

/** One replica of promscaler: successive processes, each of which runs the whole service. */
export class Replica {
  readonly number: number;
  /** The offset of its machine's wall clock from true time. */
  wallOffsetMs = 0;
  crashPoint: CrashPoint | null = null;
  /** Whether its next process divides the scalers with the others. */
  isSharded: boolean;
  readonly processes: SimulatedProcess[] = [];
  readonly #simulation: Simulation;
  #setDocuments: (() => void) | null = null;
  #cycles = 0;

  constructor(number: number, simulation: Simulation) {
    this.number = number;
    this.#simulation = simulation;
    this.isSharded = simulation.isSharded;
  }

  get process(): SimulatedProcess | null {
    return this.processes.at(-1) ?? null;
  }

  start(): void {
    const simulation = this.#simulation;
    const name = `p${this.number}.${this.processes.length}`;
    const random = simulation.random.fork(name);
    const process = new SimulatedProcess(name, simulation.timeline, {
      random,
      wallOffsetMs: () => this.wallOffsetMs,
    });
    this.processes.push(process);
    void this.#run(process).catch((error: unknown) => {
      const text = `the service ended by an error: ${String(error)}`;
      simulation.log({ kind: 'line', process: name, atMs: simulation.timeline.nowMs, text });
    });
  }

  /** Kills the process; another one replaces it a little later. */
  crash(restartMs = RESTART_MS): void {
    const { process } = this;
    if (process?.isAlive !== true) return;
    this.#kill(process);
    this.#setDocuments = null;
    this.#simulation.timeline.after(restartMs, () => this.start());
  }

  /** Starts the next process, then stops this one gracefully, as a rolling update does. */
  replace(isSharded: boolean): void {
    const { process } = this;
    this.isSharded = isSharded;
    if (process?.isAlive !== true) return;
    this.start();
    this.#simulation.timeline.after(RESTART_MS, () => process.stop.abort());
    this.#simulation.timeline.after(3 * RESTART_MS, () => this.#kill(process));
  }

  #kill(process: SimulatedProcess): void {
    process.kill(this.#simulation.timeline.nowMs);
    this.#simulation.watches.dropAllOf(process.name);
  }

  /** Stops the process gracefully, and starts another one when it has ended. */
  restart(): void {
    const { process } = this;
    if (process?.isAlive !== true) return;
    process.stop.abort();
    this.#simulation.timeline.after(2 * RESTART_MS, () => {
      if (process === this.process) this.crash();
    });
  }

  /** Passes the current documents to the running service. */
  reload(): void {
    this.#setDocuments?.();
  }

  #tell(process: SimulatedProcess, output: CycleOutput): void {
    const simulation = this.#simulation;
    const { product } = simulation;
    const atMs = simulation.timeline.nowMs;
    const told = decisionOf(process.name, atMs, output);
    simulation.log(told);
    const { snapshot, decision } = output.record;
    this.#cycles += 1;
    if (snapshot === null || decision === null || this.#cycles % REPLAY_EVERY !== 0) return;
    const parsed = product.parseSnapshot(JSON.parse(JSON.stringify(product.snapshotToJson(snapshot))));
    const again = JSON.stringify(product.decisionToJson(product.decide(parsed)));
    const isSame = again === JSON.stringify(product.decisionToJson(decision));
    simulation.log({ kind: 'replay', process: process.name, scaler: told.scaler, atMs, isSame });
  }

  async #run(process: SimulatedProcess): Promise<void> {
    const simulation = this.#simulation;
    const { product } = simulation;
    const { config, problems } = product.readServiceConfig(
      serviceConfig({ isSharded: this.isSharded, hasBackTests: simulation.hasBackTests }),
      'promscaler.yaml',
    );
    if (config === null) throw new Error(problems.map(({ message }) => message).join('; '));
    const stream = {
      write: (text: string) =>
        simulation.log({
          kind: 'line',
          process: process.name,
          atMs: simulation.timeline.nowMs,
          text: text.trimEnd(),
        }),
    };
    const log = product.createLog({ stream, ...config.log, clock: process.clock });
    const service = await product.createService({
      config,
      version: '1.0.0',
      clock: process.clock,
      log,
      dryRun: false,
      instance: process.name,
      namespace: OWN_NAMESPACE,
      electsLeader: simulation.isElected,
      keepsState: true,
      listens: false,
      openTransport: (onRequest) =>
        openTransport({
          ...partsOf(simulation),
          process,
          replica: this.number,
          onStep: (step, record) => {
            const point = this.crashPoint;
            if (point === null || point.step !== step || !isInGroup(record, point.group)) return;
            this.crashPoint = null;
            this.crash();
          },
          onRequest,
        }),
      createClient: (source) => {
        const found = simulation.sources.get(source.name);
        if (found === undefined) throw new Error(`there is no source ${source.name}`);
        const random = simulation.random.fork(`${process.name} ${source.name}`);
        return aClient(
          source,
          createSourceClient({ ...partsOf(simulation), process, source: found, random }),
        );
      },
      createRangeClient: () =>
        createHistoryClient(process, simulation.random.fork(`${process.name} histories`)),
      backTest: createBackTest(process, simulation),
      onCycle: (output) => this.#tell(process, output),
    });
    let documents: DocumentSet = new Map();
    const setDocuments = (): void => {
      const { set, problems } = product.nextSet([simulation.readDirectory()], documents);
      documents = set;
      service.setScalers(
        Array.from(set.values(), ({ scaler }) => scaler),
        problems,
      );
    };
    this.#setDocuments = setDocuments;
    setDocuments();
    await service.run(process.stop.signal);
  }
}

function decisionOf(process: string, atMs: number, { record }: CycleOutput): DecisionRecord {
  const { snapshot, decision, outcome, scaler } = record;
  return {
    kind: 'decision',
    process,
    scaler: `${scaler.namespace}/${scaler.name}`,
    atMs,
    specReplicas: snapshot?.target.specReplicas ?? null,
    pods: snapshot?.pods.map(({ name }) => name) ?? null,
    desired: decision?.desiredReplicas ?? null,
    action: decision?.action ?? 'none',
    outcome: outcome.kind,
    from: outcome.from,
    to: outcome.to,
    bounds: [scaler.spec.minReplicas, scaler.spec.maxReplicas],
    reason: decision?.reason ?? record.conditions.map(({ message }) => message).join('; '),
  };
}

/** Builds the dependencies of a process. */
function partsOf({
  product,
  cluster,
  api,
  watches,
  log,
  timeline,
  workloads,
  tellsStart,
}: Simulation): Pick<
  Simulation,
  'product' | 'cluster' | 'api' | 'watches' | 'log' | 'timeline' | 'workloads' | 'tellsStart'
> {
  return { product, cluster, api, watches, log, timeline, workloads, tellsStart };
}
