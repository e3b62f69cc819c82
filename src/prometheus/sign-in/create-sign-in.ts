import type { Clock } from '../../units/clock.js';
import type { SignInConfig } from '../data-source/source-config.js';
import { createAzure } from './azure.js';
import { createGoogle } from './google.js';
import { createOAuth2 } from './oauth2.js';
import type { SignIn } from '../requests/authentication.js';
import type { Environment } from './environment.js';
import { createSigV4 } from './sigv4.js';

/** Sends nothing and loads no library before the first request. */
export function createSignIn(config: SignInConfig, clock: Clock, env: Environment): SignIn {
  switch (config.way) {
    case 'oauth2':
      return createOAuth2(config, clock);
    case 'sigv4':
      return createSigV4(config, clock);
    case 'azure':
      return createAzure(config, clock, env);
    case 'google':
      return createGoogle(clock);
    default:
      throw new Error(`unknown authentication method: ${JSON.stringify(config satisfies never)}`);
  }
}
