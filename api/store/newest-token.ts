// The greatest token ever given out, also when the attempt that carried it is gone from the history.

/** SQL; kept by AUTOINCREMENT, which notes explicit numbers too. */
export const NEWEST_TOKEN = "(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'attempts')";
