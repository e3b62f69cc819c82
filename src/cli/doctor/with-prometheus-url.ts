import type { ServiceConfig } from '../../config/resolve-service-config.js';
import { CommandError } from '../io.js';

/**
 * The config with the data source `default` (or the only one) asked at this address, as `--prometheus` says; itself
 * without it. Throws `CommandError` where it is no address.
 */
export function withPrometheusUrl(config: ServiceConfig, url: string | undefined): ServiceConfig {
  if (url === undefined) return config;
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url))
    throw new CommandError(
      `--prometheus is ${url}, must be an http or https URL, such as http://localhost:9090`,
      2,
    );
  const { username, password } = new URL(url);
  if (username !== '' || password !== '')
    throw new CommandError(
      '--prometheus may hold no user and no password: they belong into the service config',
      2,
    );
  const sources = Object.keys(config.prometheus);
  const [only] = sources;
  const name = sources.length === 1 ? only : sources.find((one) => one === 'default');
  const source = name === undefined ? undefined : config.prometheus[name];
  if (name === undefined || source === undefined)
    throw new CommandError(
      `--prometheus: which data source is meant? The service config has ${sources.join(', ')}, none is called default`,
      2,
    );
  return { ...config, prometheus: { ...config.prometheus, [name]: { ...source, urls: [url] } } };
}
