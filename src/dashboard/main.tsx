import { render } from 'preact';
import { BROWSER_CLOCK } from './browser-clock.js';
import { sessionValue, createTheme } from './shell/theme.jsx';
import { createApi } from './data/api.js';
import { createSession } from './data/session.js';
import { Shell } from './shell/shell.jsx';
import { startTicking } from './ui/use-now.js';
import './design/tokens.css';
import './design/base.css';
import './design/parts.css';
import './shell/shell.css';

const root = document.getElementById('app');
if (root !== null) {
  const api = createApi({
    base: document.baseURI,
    clock: BROWSER_CLOCK,
    session: createSession(sessionValue('promscaler.token')),
    fetch: (input, init) => fetch(input, init),
  });
  // The browser would scroll before a list has its rows. So each list restores its scroll position itself.
  history.scrollRestoration = 'manual';
  startTicking(BROWSER_CLOCK);
  render(<Shell api={api} theme={createTheme()} />, root);
}
