import axios from 'axios';

export const client = axios.create({
  // No proxy from the environment and no redirects, because both would send the token to another host.
  proxy: false,
  maxRedirects: 0,
  maxBodyLength: 4 * 1024 * 1024,
  validateStatus: () => true,
  transformRequest: [(body: unknown) => body],
  transformResponse: [(body: unknown) => body],
});

/**
 * Returns the body of a response and removes it from the response, which listeners hold as long as the connection is
 * open: up to 64 MiB for each connection of the lists. Empty if the response is a stream.
 */
export function takeBody(response: { data: unknown }): Buffer {
  const { data } = response;
  if (!Buffer.isBuffer(data)) return Buffer.alloc(0);
  response.data = null;
  return data;
}
