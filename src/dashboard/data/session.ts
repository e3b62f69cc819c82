import { createCell } from './cell.js';
import type { ReadableCell } from './cell.js';

/** The bearer token of this browser tab. It is stored only in session storage. */
export interface Session {
  readonly state: ReadableCell<SessionState>;
  /** Stores the token that the user has entered. */
  readonly enter: (token: string) => void;
  /**
   * Reports that the server has rejected a request. `usedToken`: the token of the request; null: the request had none.
   */
  readonly reject: (message: string, usedToken: string | null) => void;
}

export interface SessionState {
  readonly token: string | null;
  /** Why the token of the user was rejected; empty: the user has no token yet; null: no token is needed now. */
  readonly demand: string | null;
}

interface TokenStorage {
  readonly read: () => string | null;
  readonly write: (token: string | null) => void;
}

export function createSession(storage: TokenStorage): Session {
  const state = createCell<SessionState>({ token: storage.read(), demand: null });
  return {
    state,
    enter: (token) => {
      storage.write(token);
      state.set({ token, demand: null });
    },
    reject: (message, usedToken) => {
      // Ignores a request that was sent before the user entered another token.
      if (usedToken !== state.get().token || state.get().demand !== null) return;
      storage.write(null);
      state.set({ token: null, demand: usedToken === null ? '' : message });
    },
  };
}
