import axios from 'axios';
import { httpAdapter } from './http-adapter.js';

/** Sends requests without the defaults of axios: no other headers, an unchanged body, and no status is an error. */
export const httpClient = axios.create({
  adapter: httpAdapter,
  transformRequest: [],
  transformResponse: [],
  validateStatus: () => true,
});
httpClient.defaults.headers = { common: {} } as typeof httpClient.defaults.headers;
