import {
  type Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { type Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AxiosError, AxiosHeaders, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';

/** Axios does not type them. */
interface Agents {
  readonly httpAgent?: HttpAgent;
  readonly httpsAgent?: HttpsAgent;
}

/**
 * Sends an axios request and returns the decompressed body as a stream. Follows no redirect and uses no proxy. Rejects
 * with an `AxiosError`. Takes a third of the CPU time per query of axios's `http` adapter, which also supports forms,
 * progress, rates and redirects: half a second less for a round of 2,500 queries.
 */
export function httpAdapter(config: InternalAxiosRequestConfig): Promise<AxiosResponse<Readable>> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      reject(AxiosError.from(error, error.code, config, request));
    };
    const request = open(config, (response) => {
      resolve({
        data: decompressed(response),
        status: response.statusCode ?? 0,
        statusText: response.statusMessage ?? '',
        headers: new AxiosHeaders(response.headers as Record<string, string | string[]>),
        config,
        request,
      });
    });
    request.on('error', fail);
    request.end(config.data as string | undefined);
  });
}

function open(
  config: InternalAxiosRequestConfig,
  onResponse: (response: IncomingMessage) => void,
): ClientRequest {
  const { url = '', method = 'get', headers, signal } = config;
  const isHttps = /^https:/i.test(url);
  const { httpAgent, httpsAgent } = config as Agents;
  const options = {
    method: method.toUpperCase(),
    headers: headers.toJSON() as Record<string, string>,
    agent: isHttps ? httpsAgent : httpAgent,
    ...(signal instanceof AbortSignal ? { signal } : {}),
  };
  return isHttps ? requestHttps(url, options, onResponse) : requestHttp(url, options, onResponse);
}

/** A proxy may use another compression than the accepted ones. */
const DECOMPRESS: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function decompressed(response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? '').toLowerCase();
  const create = Object.hasOwn(DECOMPRESS, encoding) ? DECOMPRESS[encoding] : undefined;
  if (create === undefined) return response;
  // The reader of the stream receives its error.
  return pipeline(response, create(), () => undefined);
}
