import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createListServer, prepareLists } from './list-server.js';
import { scaleJson } from './objects.js';
import type { FakeDeployment } from './objects.js';
import { acceptsGzip, createTrafficMeter, packBody, readBody, sendJson } from './traffic.js';
import type { TrafficMeter } from './traffic.js';
import { createWatchHub } from './watch-hub.js';
import type { Simulation } from './simulation.js';
import type { SimulationClock } from './simulation-clock.js';

/** The API server as far as the service uses it: lists and watches of pods and Deployments, scale, and its own objects. */
export interface FakeApiServer {
  readonly server: Server;
  readonly meter: TrafficMeter;
}

const PATH =
  /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+)(?:\/([a-z]+))?)?$/;
const PACKED_FROM_BYTES = 128 * 1024;

interface Call {
  readonly verb: string;
  readonly namespace: string | null;
  readonly plural: string;
  readonly name: string | null;
  readonly subresource: string | null;
  readonly query: URLSearchParams;
}

export function createApiServer(simulation: Simulation, clock: SimulationClock): FakeApiServer {
  const server = createServer((request, response) => void answer(request, response));
  server.keepAliveTimeout = 0;
  const meter = createTrafficMeter(server);
  const lists = createListServer(simulation);
  const watches = createWatchHub(simulation, clock);
  const own = createOwnObjects(clock);
  prepareLists(simulation, lists);

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = readCall(request);
    if (call === null) {
      meter.count(`${request.method ?? ''} ${request.url ?? ''}`);
      meter.begin(response);
      sendJson(response, notFound('path'), { status: 404 });
      return;
    }
    const { verb, namespace, plural, name, subresource, query } = call;
    meter.count(subresource === null ? `${verb} ${plural}` : `${verb} ${plural}/${subresource}`);
    if (verb === 'watch') {
      const version = Number(query.get('resourceVersion'));
      const timeoutSeconds = Number(query.get('timeoutSeconds') ?? 300);
      watches.open(response, { plural, namespace, version, timeoutSeconds });
      return;
    }
    meter.begin(response);
    const text = await readBody(request);
    const body = text === '' ? {} : (JSON.parse(text) as JsonBody);
    const send = (json: string, status = 200): void => {
      if (json.length >= PACKED_FROM_BYTES && acceptsGzip(request))
        sendJson(response, packBody(json), { status, isPacked: true });
      else sendJson(response, json, { status });
    };
    if (verb === 'list' && (plural === 'pods' || plural === 'deployments')) {
      const limit = Number(query.get('limit') ?? 0);
      const page = lists.page(plural, { namespace, limit, from: query.get('continue') });
      if (page.packed !== null) sendJson(response, page.packed, { isPacked: true });
      else sendJson(response, page.plain);
    } else if (verb === 'list') {
      send(`{"kind":"List","metadata":{"resourceVersion":"${simulation.version()}"},"items":[]}`);
    } else if (plural === 'deployments' && subresource === 'scale') {
      const deployment = simulation.deployments.get(namespace ?? '')?.get(name ?? '');
      if (deployment === undefined) send(notFound(`${namespace}/${name}`), 404);
      else answerScale(simulation, deployment, { verb, body, send });
    } else own(call, body, send);
  };
  return { server, meter };
}

interface JsonBody {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string | null>>;
}

type Send = (json: string, status?: number) => void;

function readCall({ method = 'GET', url = '/' }: IncomingMessage): Call | null {
  const { pathname, searchParams: query } = new URL(url, 'http://localhost');
  const [, namespace = null, plural, name = null, subresource = null] = PATH.exec(pathname) ?? [];
  if (plural === undefined) return null;
  const reading = query.get('watch') === '1' ? 'watch' : name === null ? 'list' : 'get';
  const verbs: Readonly<Record<string, string>> = {
    GET: reading,
    POST: 'create',
    PUT: 'update',
    PATCH: 'patch',
  };
  return { verb: verbs[method] ?? method, namespace, plural, name, subresource, query };
}

function notFound(what: string): string {
  return `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"${what} not found","reason":"NotFound","code":404}`;
}

function conflict(what: string): string {
  return `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"${what}: the object has been modified","reason":"Conflict","code":409}`;
}

function answerScale(
  simulation: Simulation,
  deployment: FakeDeployment,
  { verb, body, send }: { readonly verb: string; readonly body: JsonBody; readonly send: Send },
): void {
  if (verb === 'patch') {
    if (Number(body.metadata?.['resourceVersion']) !== deployment.version) {
      send(conflict(deployment.workload.name), 409);
      return;
    }
    simulation.setReplicas(deployment, Number(body.spec?.['replicas']));
  }
  send(scaleJson(deployment));
}

/** The Lease, the ConfigMaps of state and the Events. */
function createOwnObjects(clock: SimulationClock): (call: Call, body: JsonBody, send: Send) => void {
  let last = 0;
  const nextVersion = (): number => (last += 1);
  let lease: string | null = null;
  const maps = new Map<string, { version: number; readonly data: Map<string, string> }>();
  const created = new Date(clock.startMs).toISOString();

  const writeLease = (body: JsonBody): string => {
    const metadata = { ...body.metadata, uid: 'lease-1', resourceVersion: String(nextVersion()) };
    return JSON.stringify({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata, spec: body.spec });
  };
  const mapOf = (name: string): { version: number; readonly data: Map<string, string> } => {
    const map = maps.get(name) ?? { version: nextVersion(), data: new Map<string, string>() };
    maps.set(name, map);
    return map;
  };
  const patchMap = (name: string, body: JsonBody): boolean => {
    const map = mapOf(name);
    const version = body.metadata?.['resourceVersion'];
    if (version !== undefined && Number(version) !== map.version) return false;
    for (const [key, text] of Object.entries(body.data ?? {}))
      if (text === null) map.data.delete(key);
      else map.data.set(key, text);
    map.version = nextVersion();
    return true;
  };

  return ({ verb, plural, name, namespace }, body, send) => {
    switch (plural) {
      case 'leases':
        if (verb !== 'get') lease = writeLease(body);
        if (lease === null) send(notFound('lease'), 404);
        else send(lease, verb === 'create' ? 201 : 200);
        return;
      case 'configmaps': {
        if (verb === 'patch' && !patchMap(name ?? '', body)) {
          send(conflict(name ?? ''), 409);
          return;
        }
        const { version, data } = mapOf(name ?? '');
        const metadata = {
          name,
          namespace,
          uid: `map-${name}`,
          resourceVersion: String(version),
          creationTimestamp: created,
        };
        send(
          JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data: Object.fromEntries(data) }),
        );
        return;
      }
      case 'events':
        send('{"kind":"Event","metadata":{}}', verb === 'create' ? 201 : 200);
        return;
      default:
        send(notFound(plural), 404);
    }
  };
}
