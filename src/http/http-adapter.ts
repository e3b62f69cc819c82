import type { IncomingMessage } from 'node:http';
import type { AxiosResponse, InternalAxiosRequestConfig, RawAxiosResponseHeaders } from 'axios';
import { type HttpAgents, sendHttp } from './http-request.js';

/** Sends an axios request without form, progress and redirects; its data is text. */
export async function httpAdapter(
  config: InternalAxiosRequestConfig,
): Promise<AxiosResponse<IncomingMessage>> {
  const { url = '', method = 'get', headers, signal } = config;
  const data: unknown = config.data;
  const response = await sendHttp({
    method: method.toUpperCase(),
    url,
    headers: headers.toJSON(),
    body: typeof data === 'string' ? data : null,
    signal: signal instanceof AbortSignal ? signal : undefined,
    // Axios does not type them.
    agents: config as HttpAgents,
  });
  return {
    data: response,
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    headers: response.headers as RawAxiosResponseHeaders,
    config,
  };
}
