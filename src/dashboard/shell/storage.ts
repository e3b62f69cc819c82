/** A value that survives a reload. If the browser forbids storage, it lasts as long as the page. */
export interface StoredValue {
  readonly read: () => string | null;
  /** Null removes the value. */
  readonly write: (value: string | null) => void;
}

/** Returns a value that lasts as long as the tab. */
export function sessionValue(key: string): StoredValue {
  return storedValue(() => sessionStorage, key);
}

/** Returns a value that lasts until the user clears the data of the site. */
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
        // The value lasts as long as the page.
      }
    },
  };
}
