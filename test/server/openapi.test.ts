import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { runCli } from '../cli/fake-io.js';
import { createApp } from '../../src/server/app.js';
import { openApiDocument } from '../../src/server/openapi.js';
import { partsOf } from './app-parts.js';
import { startLiveService, type LiveService } from './live-service.js';

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, object>> }>>;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const DOCUMENT = openApiDocument('0.1.0') as unknown as OpenApi;

describe('the OpenAPI document', () => {
  it('has version 3.1', async () => {
    const validator = new Validator();

    const result = await validator.validate(JSON.parse(JSON.stringify(DOCUMENT)) as Record<string, unknown>);

    expect(result).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('has every page of the app, and no other', () => {
    const app = createApp(partsOf());

    const served = app.router.stack.flatMap(({ route }) => (route === undefined ? [] : [route.path]));

    const documented = Object.keys(DOCUMENT.paths).map((path) => path.replace(/\{(\w+)\}/g, ':$1'));
    expect([...served].sort()).toEqual([...documented].sort());
  });

  it('rejects unknown fields in every object', () => {
    expect(openObjects(DOCUMENT.components.schemas)).toEqual([]);
  });

  it('is what promscaler schema --api prints', async () => {
    const { exitCode, stdout } = await runCli(['schema', '--api']);
    const both = await runCli(['schema', '--api', '--service']);

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ openapi: '3.1.0', paths: DOCUMENT.paths });
    expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('one of')]);
  });
});

/** Returns the paths of objects with named fields that also accept others. */
function openObjects(schema: unknown, path = ''): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const inside = Object.entries(schema).flatMap(([name, member]) => openObjects(member, `${path}/${name}`));
  const isOpen = 'properties' in schema && 'type' in schema && !('additionalProperties' in schema);
  return isOpen ? [path, ...inside] : inside;
}

describe('the API of a running service', () => {
  let service: LiveService;
  const validators = new Map<string, ValidateFunction>();
  const ajv = ajvFormats.default(new Ajv2020({ strict: false, allErrors: true }));

  beforeAll(async () => {
    ajv.addSchema(DOCUMENT, 'api');
    service = await startLiveService();
  });

  afterAll(async () => {
    const { exitCode } = await service.close();
    expect(exitCode).toBe(0);
  });

  function validatorOf(path: string, status: string, type: string): ValidateFunction {
    const pointer = [path, 'get', 'responses', status, 'content', type, 'schema']
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `api#/paths/${pointer}` });
    validators.set(pointer, known);
    return known;
  }

  /** Returns the parts of the answer to a request that the document does not allow. */
  async function check(
    path: string,
    url: string,
    init: RequestInit = {},
  ): Promise<{ readonly status: number; readonly body: unknown; readonly breaches: unknown }> {
    const response = await fetch(`${service.url}${url}`, init);
    const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
    const text = await response.text();
    const body: unknown = type === 'application/json' ? JSON.parse(text) : text;
    const responses = DOCUMENT.paths[path]?.get.responses ?? {};
    const status = String(response.status) in responses ? String(response.status) : 'default';
    if (!(type in (responses[status]?.content ?? {})))
      return { status: response.status, body, breaches: `${type} is not documented for ${status}` };
    const validate = validatorOf(path, status, type);
    return { status: response.status, body, breaches: validate(body) ? [] : validate.errors };
  }

  const LIST = '/api/v1/scalers';
  const ONE = '/api/v1/scalers/{namespace}/{name}';
  const LONG_AGO = '2001-01-01T00:00:00Z';

  it.each([
    ['/healthz', '/healthz', 200],
    ['/readyz', '/readyz', 200],
    ['/metrics', '/metrics', 200],
    ['/api/v1/openapi.json', '/api/v1/openapi.json', 200],
    [LIST, '/api/v1/scalers', 200],
    [LIST, '/api/v1/scalers?limit=1', 200],
    [LIST, '/api/v1/scalers?limit=0', 400],
    [LIST, '/api/v1/scalers?continue=x', 400],
    ...['web', 'many', 'ghost'].flatMap((name): [string, string, number][] => [
      [ONE, `/api/v1/scalers/shop/${name}`, 200],
      [`${ONE}/decisions`, `/api/v1/scalers/shop/${name}/decisions`, 200],
      [`${ONE}/history`, `/api/v1/scalers/shop/${name}/history?step=60`, 200],
    ]),
    [`${ONE}/decisions`, '/api/v1/scalers/shop/web/decisions?changes=true&limit=1', 200],
    [`${ONE}/decisions`, `/api/v1/scalers/shop/web/decisions?at=${LONG_AGO}`, 200],
    [`${ONE}/decisions`, '/api/v1/scalers/shop/web/decisions?changes=yes', 400],
    [`${ONE}/snapshot`, '/api/v1/scalers/shop/web/snapshot', 200],
    [`${ONE}/snapshot`, '/api/v1/scalers/shop/many/snapshot', 200],
    [`${ONE}/snapshot`, '/api/v1/scalers/shop/ghost/snapshot', 404],
    [`${ONE}/snapshot`, `/api/v1/scalers/shop/web/snapshot?at=${LONG_AGO}`, 404],
    [`${ONE}/snapshot`, '/api/v1/scalers/shop/web/snapshot?at=noon', 400],
    [`${ONE}/history`, '/api/v1/scalers/shop/web/history', 200],
    [`${ONE}/history`, '/api/v1/scalers/shop/web/history?step=0', 400],
    [`${ONE}/history`, '/api/v1/scalers/shop/web/history?source=prometheus', 200],
    [`${ONE}/history`, '/api/v1/scalers/shop/many/history?source=prometheus', 503],
    [`${ONE}/history`, '/api/v1/scalers/shop/nobody/history?source=prometheus', 404],
    [`${ONE}/history`, '/api/v1/scalers/shop/web/history?source=disk', 400],
    ...['', '/decisions', '/snapshot', '/history'].map((page): [string, string, number] => [
      `${ONE}${page}`,
      `/api/v1/scalers/shop/nobody${page}`,
      404,
    ]),
  ])('%s: %s is %i as documented', async (path, url, status) => {
    expect(await check(path, url)).toMatchObject({ status, breaches: [] });
  });

  it.each(Object.keys(DOCUMENT.paths))(
    '%s: a POST is 405 and a URL of more than 2,048 characters 414 as documented',
    async (path) => {
      const url = path.replace('{namespace}', 'shop').replace('{name}', 'web');

      const posted = await check(path, url, { method: 'POST' });
      const long = await check(path, `${url}?${'x'.repeat(2048)}`);

      expect([posted, long]).toMatchObject([
        { status: 405, breaches: [] },
        { status: 414, breaches: [] },
      ]);
    },
  );

  it('answers JSON whatever the Accept header is', async () => {
    const headers = { Accept: 'text/html' };

    expect(await check(LIST, '/api/v1/scalers', { headers })).toMatchObject({ status: 200, breaches: [] });
  });

  it('detects an undocumented field', async () => {
    const { body } = await check(LIST, '/api/v1/scalers');
    const validate = validatorOf(LIST, '200', 'application/json');

    expect(validate(body)).toBe(true);
    expect(validate({ ...(body as object), more: 1 })).toBe(false);
  });

  it('sends events as documented: for 3 scalers a change, a failure and a reload', async () => {
    // Every run numbers its events from 1: all are sent after the id before the first one.
    const run =
      /id: (\S+)-\d+\n/.exec(await readStream(`${service.url}/api/v1/events`, {}, 'id: '))?.[1] ?? '';
    const headers = { 'Last-Event-ID': `${run}-0` };

    const text = await readStream(`${service.url}/api/v1/events`, headers, 'event: decision');

    const events = [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, type = '', data = '']) => {
      const name = `${type.charAt(0).toUpperCase()}${type.slice(1)}Event`;
      const validate = ajv.compile({ $ref: `api#/components/schemas/${name}` });
      return { type, breaches: validate(JSON.parse(data)) ? [] : validate.errors };
    });
    expect(events.filter(({ breaches }) => breaches?.length !== 0)).toEqual([]);
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set(['connected', 'reload', 'failure', 'decision']),
    );
  });
});

/** Returns the text of a stream up to `until`. */
async function readStream(url: string, headers: Record<string, string>, until: string): Promise<string> {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.includes(until) && text.endsWith('\n\n')) break;
  }
  abort.abort();
  return text;
}
