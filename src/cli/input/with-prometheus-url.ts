import type { ServiceConfig } from '../../config/resolve-service-config.js';
import { CommandError } from '../output/io.js';

/**
 * Sets the URL of the data source `default`, or of the only one, to `--prometheus`. Throws `CommandError` if the URL is
 * invalid or contains credentials.
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
      '--prometheus contains a user or a password: set basicAuth of the data source in the service config instead',
      2,
    );
  const sources = Object.keys(config.prometheus);
  const [only] = sources;
  const name = sources.length === 1 ? only : sources.find((one) => one === 'default');
  const source = name === undefined ? undefined : config.prometheus[name];
  if (name === undefined || source === undefined)
    throw new CommandError(
      `--prometheus is ambiguous: the service config has the data sources ${sources.join(', ')}, and none is named default`,
      2,
    );
  return { ...config, prometheus: { ...config.prometheus, [name]: { ...source, urls: [url] } } };
}
