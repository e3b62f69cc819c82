/** A value that is kept when the page is reloaded. If the browser forbids storage, it is kept only until then. */
export interface StoredValue {
  readonly read: () => string | null;
  /** Null removes the value. */
  readonly write: (value: string | null) => void;
}

/** Returns a value that is kept as long as the tab is open. */
export function sessionValue(key: string): StoredValue {
  return storedValue(() => sessionStorage, key);
}

/** Returns a value that is kept until the user clears the data of the site. */
export function lastingValue(key: string): StoredValue {
  return storedValue(() => localStorage, key);
}

function storedValue(storage: () => Storage, key: string): StoredValue {
  let value: string | null = null;
  try {
    value = storage().getItem(key);
  } catch {
    value = null;
  }
  return {
    read: () => value,
    write: (next) => {
      value = next;
      try {
        if (next === null) storage().removeItem(key);
        else storage().setItem(key, next);
      } catch {
        // The browser forbids storage, so the value is kept only until the page is reloaded.
      }
    },
  };
}
