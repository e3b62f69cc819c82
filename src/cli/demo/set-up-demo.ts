import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { freePort } from './programs/free-port.js';
import type { RevivedPrometheus } from './revived-prometheus.js';
import type { JsonObject } from '../../simulator/json/json.js';
import { kubeconfigText } from '../../simulator/api/access/kubeconfig.js';
import type { Simulator } from '../../simulator/simulator.js';
import { customResourceDefinition } from '../schema/definition.js';
import { startApiProxy } from './api-proxy.js';
import { SERVICE_TARGETS_FILE, demoDocuments, demoServiceConfig, demoServiceTargets } from './documents.js';
import type { DemoSettings } from './options.js';
import { DEMO_NAMESPACE, demoService, demoStateMaps } from './workloads.js';

export interface DemoSetup {
  readonly folder: string;
  /** Connects to the cluster and, through its service proxy, to the service. */
  readonly kubeconfig: string;
  readonly configFile: string;
  readonly serviceUrl: string;
  readonly prometheusUrl: string;
  readonly prometheus: RevivedPrometheus;
  readonly close: () => Promise<void>;
}

export interface Parts {
  readonly folder: string;
  readonly simulator: Simulator;
  readonly prometheus: RevivedPrometheus;
}

const DEFAULT_PORT = 8080;
const KUBECONFIG = 'kubeconfig';

export async function setUpDemo(parts: Parts, settings: DemoSettings): Promise<DemoSetup> {
  const { folder, simulator, prometheus } = parts;
  const { port: wanted, speed } = settings;
  const port = wanted === null || wanted === 0 ? await freePort(wanted ?? DEFAULT_PORT) : wanted;
  const documents = demoDocuments(speed);
  for (const manifest of demoStateMaps(DEMO_NAMESPACE)) simulator.addObject(manifest);
  simulator.addObject(demoService(port));
  // Removes `undefined` members, which the simulator does not accept.
  simulator.addObject(JSON.parse(JSON.stringify(customResourceDefinition())) as JsonObject);
  for (const document of documents.objects) simulator.addObject(parse(document) as JsonObject);
  const serviceUrl = `http://127.0.0.1:${port}`;
  const proxy = await startApiProxy(simulator.url, serviceUrl);
  const configFile = join(folder, 'promscaler.yaml');
  const addresses = { prometheusUrl: prometheus.url, kubeconfig: KUBECONFIG, port };
  await mkdir(join(folder, 'scalers'));
  for (const [name, text] of documents.files) await writeFile(join(folder, 'scalers', name), text);
  await writeFile(configFile, demoServiceConfig(addresses));
  await writeFile(join(prometheus.folder, SERVICE_TARGETS_FILE), demoServiceTargets(port));
  const kubeconfig = join(folder, KUBECONFIG);
  await writeFile(kubeconfig, kubeconfigText(proxy.url, { namespace: DEMO_NAMESPACE }));
  return {
    folder,
    kubeconfig,
    configFile,
    serviceUrl,
    prometheusUrl: prometheus.url,
    prometheus,
    close: proxy.close,
  };
}
