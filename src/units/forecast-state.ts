// Shared bounds for decisions and for the state store, which must not import decisions.

/** Pod-seconds of a forecast are summed in parts of 6 hours. */
export const PART_SECONDS = 21_600;

/** Parts of three days. */
export const PARTS = 12;

/** Two of each hour and weekday. */
export const MOST_RAISES = 336;
