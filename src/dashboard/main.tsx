import { render } from 'preact';
import { BROWSER_CLOCK } from './browser-clock.js';
import { createApi } from './data/api.js';
import { createSession } from './data/session.js';
import { Shell } from './shell/shell.jsx';
import { createTheme, sessionValue } from './shell/theme.jsx';
import { startTicking } from './ui/time.jsx';
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
  // Each list restores its own scroll position, because the browser would scroll before the list has its rows.
  history.scrollRestoration = 'manual';
  startTicking(BROWSER_CLOCK);
  render(<Shell api={api} theme={createTheme()} />, root);
}
